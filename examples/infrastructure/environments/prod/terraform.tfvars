regions = {
  eu = "https://streams-eu.example.com"
  us = "https://streams-us.example.com"
}

oauth2 = {
  token_url       = "https://login.example.com/oauth2/token"
  scopes          = ["streams"]
  endpoint_params = { audience = "https://streams.example.com" }
}
