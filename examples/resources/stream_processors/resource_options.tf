resource "stream_processors" "parking" {
  stream_id     = "cam-2"
  processor_ids = ["object-detection", "plate-reader"]

  # A create detaches other processors. "refuse", with detect_drift, fails instead.
  on_create = "replace"

  # Destroy leaves the processors attached.
  on_destroy = "keep"

  # When a value changes, the set is sent again, in place.
  triggers = {
    firmware = "2.1"
  }

  timeouts = {
    create = "10m"
    update = "10m"
  }
}
