provider "stream" {
  token_file = var.token_file
}
