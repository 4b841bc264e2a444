# Run by hand: terraform apply -invoke=action.stream_set_processors.pause
action "stream_set_processors" "pause" {
  config {
    stream_id     = "cam-1"
    processor_ids = []
  }
}
