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

variable "ca_cert_file" {
  description = "PEM file with the certificate of the authority that signed the service's certificate."
  type        = string
}

variable "client_cert_file" {
  description = "PEM file with the client certificate."
  type        = string
}

variable "client_key_file" {
  description = "PEM file with the private key of the client certificate."
  type        = string
}

provider "stream" {
  base_url = var.base_url

  tls = {
    ca_cert_pem     = file(var.ca_cert_file)
    client_cert_pem = file(var.client_cert_file)
    client_key_pem  = file(var.client_key_file)
  }
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection"]
}
