provider "stream" {
  token_file = "/var/run/secrets/streams/token"
}
