variable "model_version" {
  description = "Version of the model that the processors load when they are attached."
  type        = string
  default     = "2025-06"
}

resource "stream_processors" "parking" {
  stream_id     = "cam-2"
  processor_ids = ["object-detection", "plate-reader"]

  # Destroy leaves the processors attached.
  on_destroy = "keep"

  # When the version changes, the resource is updated in place: the set is sent again.
  triggers = {
    model_version = var.model_version
  }

  timeouts = {
    create = "10m"
    update = "10m"
  }
}
