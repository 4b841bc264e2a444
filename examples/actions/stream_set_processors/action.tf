resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection", "people-counter"]
}

action "stream_set_processors" "begin_maintenance" {
  config {
    stream_id     = stream_processors.entrance.stream_id
    processor_ids = []
  }
}

action "stream_set_processors" "end_maintenance" {
  config {
    stream_id     = stream_processors.entrance.stream_id
    processor_ids = stream_processors.entrance.processor_ids
  }
}
