variable "password" {
  type      = string
  ephemeral = true
}

provider "stream" {
  basic_auth = {
    username = "terraform"
    password = var.password
  }
}
