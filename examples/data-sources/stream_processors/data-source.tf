provider "stream" {
  detect_drift = true
}

data "stream_processors" "entrance" {
  stream_id = "cam-1"
}

output "processors" {
  value = data.stream_processors.entrance.processor_ids
}
