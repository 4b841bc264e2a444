terraform {
  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1.0"
    }
  }
}

# The address comes from STREAM_BASE_URL, the credentials from STREAM_TOKEN.
provider "stream" {}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection", "people-counter"]
}
