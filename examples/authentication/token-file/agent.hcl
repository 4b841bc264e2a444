auto_auth {
  method "kubernetes" {
    config = {
      role = "terraform"
    }
  }
}

template {
  contents    = "{{ with secret \"streams/creds/terraform\" }}{{ .Data.token }}{{ end }}"
  destination = "/run/streams/token"
  perms       = "0600"
}
