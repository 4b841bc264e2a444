resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection"]

  lifecycle {
    postcondition {
      condition     = contains(self.compatible_namespaces, "acme.ptz")
      error_message = "Stream ${self.stream_id} is not compatible with acme.ptz, but with: ${join(", ", self.compatible_namespaces)}."
    }
  }
}
