terraform {
  required_version = ">= 1.14"

  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1.0"
    }
  }
}
