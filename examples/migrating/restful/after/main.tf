terraform {
  required_version = ">= 1.8"

  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1.0"
    }
  }
}

provider "stream" {
  base_url = "https://streams.example.com"
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection", "people-counter"]
}

moved {
  from = restful_operation.entrance
  to   = stream_processors.entrance
}
