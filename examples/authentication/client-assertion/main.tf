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

variable "token_url" {
  description = "Address of the token endpoint, such as https://login.example.com/oauth2/token."
  type        = string
}

variable "client_id" {
  description = "Id of the OAuth2 client."
  type        = string
}

# The client has no secret. The assertion comes from STREAM_OAUTH2_CLIENT_ASSERTION or
# STREAM_OAUTH2_CLIENT_ASSERTION_FILE.
provider "stream" {
  base_url = var.base_url

  oauth2 = {
    token_url = var.token_url
    client_id = var.client_id
    scopes    = ["streams.write"]
  }
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection"]
}
