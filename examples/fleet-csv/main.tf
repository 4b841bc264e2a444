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
  cameras = csvdecode(file("${path.module}/cameras.csv"))
}

# For a camera without processors, split returns [""], and compact removes the empty string.
resource "stream_processors" "camera" {
  for_each = { for camera in local.cameras : camera.stream_id => camera }

  stream_id     = each.key
  processor_ids = compact(split(" ", each.value.processor_ids))
}
