resource "stream_processors_group" "parking" {
  streams = {
    "cam-4" = ["object-detection", "plate-reader"]
    "cam-5" = ["object-detection"]
  }

  # A create detaches other processors. "refuse", with detect_drift, fails instead.
  on_create = "replace"

  # A removed stream, or a destroy, leaves the processors attached.
  on_destroy = "keep"

  # When a value changes, all sets are sent again.
  triggers = {
    firmware = "2.1"
  }

  timeouts = {
    create = "15m"
    update = "15m"
  }
}
