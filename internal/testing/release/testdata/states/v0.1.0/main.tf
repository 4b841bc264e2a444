variable "added" {
  type    = set(string)
  default = []
}

variable "run" {
  default = "1"
}

provider "stream" {
  deployment = "recorded"
  retry      = { max_attempts = 1 }
}

resource "stream_processors" "plain" {
  stream_id     = "cam-1"
  processor_ids = setunion(["b", "a"], var.added)
}

resource "stream_processors" "keep" {
  stream_id     = "cam-2"
  processor_ids = setunion(["a"], var.added)
  on_destroy    = "keep"
  triggers      = { model = "2026-01" }
  timeouts      = { create = "1m", update = "90s" }
}

resource "stream_processors" "imported" {
  stream_id     = "cam-3"
  processor_ids = setunion(["a"], var.added)
}

resource "stream_processors" "unknown" {
  stream_id     = "cam-4"
  processor_ids = setunion(["a"], var.added)
}

resource "stream_processors_group" "plain" {
  streams = { cam-5 = setunion(["a"], var.added), cam-6 = [] }
}

resource "stream_processors_group" "keep" {
  streams    = { cam-7 = setunion(["a"], var.added) }
  on_destroy = "keep"
}

resource "stream_processors_group" "unknown" {
  streams = { cam-8 = setunion(["a"], var.added), cam-9 = ["a"] }
}

resource "stream_processors_group" "unsent" {
  streams  = { cam-10 = ["a"], cam-11 = ["a"] }
  triggers = { run = var.run }
}
