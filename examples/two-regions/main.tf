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

variable "base_url_alt" {
  description = "Address of the service in the other region, such as https://streams-alt.example.com."
  type        = string
}

# Both provider blocks use the token in STREAM_TOKEN. Each block can set its own token instead.
provider "stream" {
  base_url = var.base_url
}

provider "stream" {
  alias    = "alt"
  base_url = var.base_url_alt
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection"]
}

resource "stream_processors" "harbor" {
  provider = stream.alt

  stream_id     = "cam-2"
  processor_ids = ["object-detection"]
}
