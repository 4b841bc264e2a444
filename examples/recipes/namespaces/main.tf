variable "namespace" {
  description = "The namespace that the stream must be compatible with."
  type        = string
  default     = "acme.ptz"
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection"]

  lifecycle {
    postcondition {
      condition     = contains(self.compatible_namespaces, var.namespace)
      error_message = "Stream ${self.stream_id} is not compatible with ${var.namespace}, but with: ${join(", ", self.compatible_namespaces)}."
    }
  }
}
