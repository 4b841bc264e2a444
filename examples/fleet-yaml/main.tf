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

resource "stream_processors" "camera" {
  for_each = yamldecode(file("${path.module}/cameras.yaml"))

  stream_id     = each.key
  processor_ids = each.value
}
