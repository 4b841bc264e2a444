# This test needs a service with the stream cam-1 at STREAM_BASE_URL. At the end, the stream has no processors.
run "attach" {
  variables {
    cameras = { "cam-1" = ["object-detection", "people-counter"] }
  }

  assert {
    condition     = stream_processors.camera["cam-1"].last_edited > 0
    error_message = "The service must report the time of the edit."
  }
}
