provider "stream" {
  tls = {
    ca_cert_pem     = file("ca.pem")
    client_cert_pem = file("client.pem")
    client_key_pem  = file("client.key")
  }
}
