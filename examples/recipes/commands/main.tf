terraform {
  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1"
    }
  }
}

locals {
  namespaces = ["acme.camera", "acme.ptz"]
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection"]
}

# Stands for a resource of your own, one for each namespace.
resource "terraform_data" "command" {
  for_each = toset(local.namespaces)

  input = "${stream_processors.entrance.stream_id} ${each.key}"

  lifecycle {
    precondition {
      condition     = contains(stream_processors.entrance.compatible_namespaces, each.key)
      error_message = "The stream is not compatible with ${each.key}."
    }
  }
}
