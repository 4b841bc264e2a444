variable "client_secret" {
  type      = string
  ephemeral = true
}

provider "stream" {
  oauth2 = {
    token_url       = "https://login.example.com/token"
    client_id       = "terraform"
    client_secret   = var.client_secret
    scopes          = ["streams.write"]
    endpoint_params = { audience = "https://streams.example.com" }
  }
}
