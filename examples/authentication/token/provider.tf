terraform {
  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1.0"
    }
  }
}

variable "base_url" {
  type = string
}

variable "token" {
  type      = string
  sensitive = true
}

provider "stream" {
  base_url = var.base_url
  token    = var.token
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection"]
}
