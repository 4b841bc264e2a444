variable "token" {
  type      = string
  sensitive = true
}

provider "stream" {
  token = var.token
}
