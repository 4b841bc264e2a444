provider "stream" {
  tls = {
    ca_cert_pem     = file(var.ca_cert_file)
    client_cert_pem = file(var.client_cert_file)
    client_key_pem  = file(var.client_key_file)
  }
}
