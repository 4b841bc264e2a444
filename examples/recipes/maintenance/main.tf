terraform {
  required_version = ">= 1.14"

  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1"
    }
  }
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection", "people-counter"]
}

action "stream_set_processors" "begin_maintenance" {
  config {
    stream_id     = stream_processors.entrance.stream_id
    processor_ids = []
  }
}

action "stream_set_processors" "end_maintenance" {
  config {
    stream_id     = stream_processors.entrance.stream_id
    processor_ids = stream_processors.entrance.processor_ids
  }
}
