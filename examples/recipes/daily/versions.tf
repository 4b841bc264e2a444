terraform {
  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1.0"
    }
  }
}
