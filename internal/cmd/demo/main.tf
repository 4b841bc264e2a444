terraform {
  required_providers {
    stream = {
      source = "stream-management/stream"
    }
  }
}

provider "stream" {
  base_url = "https://streams.example.com"
}

locals {
  cameras = {
    gate    = ["object-detection", "people-counter"]
    loading = ["object-detection", "plate-reader"]
    parking = ["object-detection"]
  }
}

resource "stream_processors" "cam" {
  for_each = local.cameras

  stream_id     = each.key
  processor_ids = each.value
}
