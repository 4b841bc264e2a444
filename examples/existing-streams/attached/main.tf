provider "stream" {
  detect_drift = true
}

data "stream_processors_group" "cameras" {
  # A spreadsheet may add a byte order mark, and spaces.
  stream_ids = compact([for id in split("\n", trimprefix(file("${path.module}/ids.txt"), "\ufeff")) : trimspace(id)])
}

output "streams" {
  # JSON with one line for each stream.
  value = "{\n${join(",\n", [for id, set in data.stream_processors_group.cameras.streams : "  ${jsonencode(id)}: ${jsonencode(set)}"])}\n}"
}
