resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection"]

  # The first apply of each day (in UTC) sends the set again.
  triggers = {
    day = formatdate("YYYY-MM-DD", plantimestamp())
  }
}
