variable "token" {
  type      = string
  ephemeral = true
}

provider "stream" {
  base_url = "https://streams.example.com"
  token    = var.token
}
