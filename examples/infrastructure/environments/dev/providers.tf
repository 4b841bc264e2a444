terraform {
  required_version = ">= 1.11"

  required_providers {
    stream = {
      source = "registry.terraform.io/stream-management/stream" # the module has the version
    }
  }
}

# Both regions have an alias, so a resource without "provider" has no address, instead of the wrong one.
provider "stream" {
  alias        = "eu"
  base_url     = var.regions.eu
  detect_drift = var.detect_drift
  token        = var.oauth2 == null ? var.secret : null
  oauth2       = var.oauth2 == null ? null : merge(var.oauth2, { client_secret = var.secret })
}

provider "stream" {
  alias        = "us"
  base_url     = var.regions.us
  detect_drift = var.detect_drift
  token        = var.oauth2 == null ? var.secret : null
  oauth2       = var.oauth2 == null ? null : merge(var.oauth2, { client_secret = var.secret })
}
