provider "stream" {
  detect_drift = true
}

data "stream_processors_group" "cameras" {
  stream_ids = ["cam-1", "cam-2"]
}

output "streams" {
  value = data.stream_processors_group.cameras.streams
}
