terraform {
  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1"
    }
  }
}

variable "base_url" {
  description = "Address of the service, such as https://streams.example.com."
  type        = string
}

variable "api_key" {
  description = "API key."
  type        = string
  sensitive   = true
}

provider "stream" {
  base_url = var.base_url

  headers = {
    "X-Api-Key" = var.api_key
  }
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection"]
}
