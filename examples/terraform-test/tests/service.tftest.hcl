# These tests need a service with the streams cam-1 and cam-2 at STREAM_BASE_URL.
# At the end, both streams have no processors.
run "attach" {
  variables {
    cameras = {
      "cam-1" = ["object-detection", "people-counter"]
      "cam-2" = ["object-detection"]
    }
  }

  assert {
    condition     = stream_processors.camera["cam-1"].last_edited > 0
    error_message = "The service must report the time of the edit."
  }
}

run "change_in_place" {
  variables {
    cameras = {
      "cam-1" = ["object-detection"]
      "cam-2" = ["object-detection"]
    }
  }

  assert {
    condition     = stream_processors.camera["cam-1"].processor_ids == toset(["object-detection"])
    error_message = "cam-1 must have one processor left."
  }
}
