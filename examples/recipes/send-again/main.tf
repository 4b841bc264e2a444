resource "stream_processors" "camera" {
  for_each = toset(["cam-1", "cam-2"])

  stream_id     = each.key
  processor_ids = ["object-detection"]

  # Another value sends all sets again.
  triggers = {
    send_again = "2026-11-26"
  }
}
