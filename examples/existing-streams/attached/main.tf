provider "stream" {
  detect_drift = true
}

data "stream_processors_group" "cameras" {
  # A spreadsheet may add a byte order mark, and spaces.
  stream_ids = compact([for id in split("\n", trimprefix(file("${path.module}/ids.txt"), "\ufeff")) : trimspace(id)])
}

output "streams" {
  value = data.stream_processors_group.cameras.streams
}
