resource "stream_processors" "plain" {
  stream_id     = "cam-1"
  processor_ids = ["b", "a"]
}

resource "stream_processors" "every_option" {
  stream_id     = "cam-2"
  processor_ids = ["a"]
  on_destroy    = "keep"
  triggers      = { model = "2026-01" }
  timeouts      = { create = "1m", update = "90s" }
}

resource "stream_processors" "empty" {
  stream_id     = "cam-3"
  processor_ids = []
}
