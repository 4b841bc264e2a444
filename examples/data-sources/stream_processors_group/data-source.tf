provider "stream" {
  detect_drift = true
}

data "stream_processors_group" "cameras" {
  stream_ids = compact(split("\n", replace(file("${path.module}/ids.txt"), "\r", "")))
}

output "streams" {
  value = data.stream_processors_group.cameras.streams
}
