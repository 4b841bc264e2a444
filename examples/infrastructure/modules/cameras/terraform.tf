terraform {
  required_version = ">= 1.11"

  required_providers {
    stream = {
      # With the host, Terraform and OpenTofu share one entry in the lock file.
      source                = "registry.terraform.io/stream-management/stream"
      version               = "~> 0.1.0"
      configuration_aliases = [stream.eu, stream.us]
    }
  }
}
