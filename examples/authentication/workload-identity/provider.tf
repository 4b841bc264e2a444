provider "stream" {
  oauth2 = {
    token_url = "https://login.example.com/token"
    client_id = "terraform"
  }
}
