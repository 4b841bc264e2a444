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

variable "token_file" {
  description = "Path of the file with the bearer token."
  type        = string
  default     = "/var/run/secrets/streams/token"
}

provider "stream" {
  base_url   = var.base_url
  token_file = var.token_file
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection"]
}
