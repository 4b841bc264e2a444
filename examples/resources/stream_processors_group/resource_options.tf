resource "stream_processors_group" "parking" {
  streams = {
    "cam-4" = ["object-detection", "plate-reader"]
    "cam-5" = ["object-detection"]
  }

  # When a stream is removed or the group is destroyed, send nothing and leave the processors attached.
  on_destroy = "keep"

  # When a value changes, all sets are sent again.
  triggers = {
    firmware = "2.1"
  }

  # Each limit is for all streams of the group together.
  timeouts = {
    create = "15m"
    update = "15m"
  }
}
