terraform {
  required_version = ">= 1.7"

  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1.0"
    }
  }
}

variable "stream_base_url" {
  description = "Address of the service."
  type        = string
}

provider "stream" {
  base_url = var.stream_base_url
}

removed {
  from = terraform_data.entrance

  lifecycle {
    destroy = false # the destroy provisioner must not run: it would detach the processors
  }
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection", "people-counter"]
}
