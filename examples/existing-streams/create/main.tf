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
  rows    = csvdecode(file("${path.module}/cameras.csv"))
  cameras = { for row in local.rows : row.stream_id => compact(split(" ", row.processor_ids)) }
}

resource "stream_processors" "camera" {
  for_each = local.cameras

  stream_id     = each.key
  processor_ids = each.value

  # A destroy, or a line removed from the list, leaves the processors attached.
  on_destroy = "keep"
}
