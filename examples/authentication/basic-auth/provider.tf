provider "stream" {
  basic_auth = {
    username = var.username
    password = var.password
  }
}
