# The stand-in services of the README, in place of the deployment.
regions = {
  eu = "http://127.0.0.1:8422"
  us = "http://127.0.0.1:8423"
}

detect_drift = true

oauth2 = {
  token_url       = "http://127.0.0.1:8422/oauth2/token"
  scopes          = ["streams"]
  endpoint_params = { audience = "https://streams.example.com" }
}
