variable "regions" {
  description = "The address of the service in each region."
  type        = object({ eu = string, us = string })
}

variable "detect_drift" {
  description = "Read the streams in each plan. The service has to serve GET, and the secret to allow it."
  type        = bool
  default     = false
}

variable "on_create" {
  description = "With detect_drift, \"refuse\": a stream that is new to the list must have no other processors than in the list."
  type        = string
  default     = null
}

variable "triggers" {
  description = "Another value sends all sets again."
  type        = map(string)
  default     = null
}

variable "oauth2" {
  description = "How to get tokens; STREAM_OAUTH2_CLIENT_ID names the client. Null: the service accepts the secret as a bearer token."
  type        = object({ token_url = string, scopes = optional(list(string)), endpoint_params = optional(map(string)) })
  default     = null
}

variable "secret" {
  description = "The client secret, or the token. Set TF_VAR_secret, to any text where nothing is sent."
  type        = string
  ephemeral   = true
}
