variable "model_version" {
  description = "Version of the model that the processors load when they are attached."
  type        = string
  default     = "2025-06"
}

resource "stream_processors" "parking" {
  stream_id     = "cam-2"
  processor_ids = ["object-detection", "plate-reader"]

  # Leave the processors attached when this resource is destroyed.
  on_destroy = "keep"

  # Send the set again, in place, whenever the version changes.
  triggers = {
    model_version = var.model_version
  }

  timeouts = {
    create = "10m"
    update = "10m"
  }
}
