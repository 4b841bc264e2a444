variable "regions" {
  description = "The address of the service in each region."
  type        = object({ eu = string, us = string })
}

variable "oauth2" {
  description = "The OAuth2 client. Null: the service accepts the secret as a bearer token."
  type        = object({ token_url = string, client_id = string })
  default     = null
}

variable "secret" {
  description = "The client secret, or the token. Set TF_VAR_secret; a plan sends nothing, so any text will do there."
  type        = string
  ephemeral   = true
}
