resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection"]
}

output "last_edited" {
  value = timeadd("1970-01-01T00:00:00Z", "${floor(stream_processors.entrance.last_edited / 1000)}s")
}
