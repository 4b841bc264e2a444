terraform {
  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1"
    }
  }
}

# The address and the credentials come from the environment, such as STREAM_BASE_URL and STREAM_TOKEN.
provider "stream" {}

locals {
  # The file is decoded once. In for_each, it would be decoded again for each instance.
  cameras = yamldecode(file("${path.module}/cameras.yaml"))
}

resource "stream_processors" "camera" {
  for_each = local.cameras

  stream_id     = each.key
  processor_ids = each.value
}
