provider "stream" {
  oauth2 = {
    token_url = var.token_url
    client_id = var.client_id
  }
}
