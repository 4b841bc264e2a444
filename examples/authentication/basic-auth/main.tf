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

variable "username" {
  description = "Name of the user."
  type        = string
}

variable "password" {
  description = "Password of the user."
  type        = string
  sensitive   = true
}

provider "stream" {
  base_url = var.base_url

  basic_auth = {
    username = var.username
    password = var.password
  }
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection"]
}
