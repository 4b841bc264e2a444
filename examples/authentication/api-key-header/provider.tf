variable "api_key" {
  type      = string
  ephemeral = true
}

provider "stream" {
  headers = {
    "X-Api-Key" = var.api_key
  }
}
