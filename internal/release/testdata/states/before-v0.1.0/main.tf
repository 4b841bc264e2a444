variable "added" {
  type    = set(string)
  default = []
}

resource "stream_processors" "plain" {
  stream_id     = "cam-1"
  processor_ids = setunion(["b", "a"], var.added)
}

resource "stream_processors" "every_option" {
  stream_id     = "cam-2"
  processor_ids = setunion(["a"], var.added)
  on_destroy    = "keep"
  triggers      = { model = "2026-01" }
  timeouts      = { create = "1m", update = "90s" }
}

resource "stream_processors" "empty" {
  stream_id     = "cam-3"
  processor_ids = var.added
}
