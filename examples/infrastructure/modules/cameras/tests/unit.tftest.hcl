# These tests need no service. Each alias has a mock of its own.
mock_provider "stream" {
  alias = "eu"
}

mock_provider "stream" {
  alias = "us"
}

run "a_camera_gets_its_processors_in_its_region" {
  variables {
    cameras = [
      { stream_id = "cam-1", region = "eu", processor_ids = "object-detection;face-blur" },
      { stream_id = " cam-2 ", region = " us ", processor_ids = "\tface-blur,\n" },
      { stream_id = "cam-1", region = "us", processor_ids = "" }, # another stream with the same id
    ]
  }

  assert {
    condition     = stream_processors.eu["cam-1"].processor_ids == toset(["face-blur", "object-detection"])
    error_message = "cam-1 must have two processors in the region eu."
  }

  assert {
    condition     = length(stream_processors.us["cam-1"].processor_ids) == 0
    error_message = "cam-1 must have no processors in the region us."
  }

  assert {
    condition     = stream_processors.us["cam-2"].processor_ids == toset(["face-blur"])
    error_message = "White space and commas must not count."
  }

  assert {
    condition     = output.stream_ids == { eu = ["cam-1"], us = ["cam-1", "cam-2"] }
    error_message = "The output must have the ids of each region."
  }
}

run "an_empty_list_is_refused" {
  command = plan

  variables {
    cameras = []
  }

  expect_failures = [var.cameras]
}

run "a_stream_id_of_two_words_is_refused" {
  command = plan

  variables {
    cameras = [{ stream_id = "cam\r-1", region = "eu", processor_ids = "face-blur" }]
  }

  expect_failures = [var.cameras]
}

run "other_columns_are_refused" {
  command = plan

  variables {
    cameras = [{ stream_id = "cam-1", region = "eu", processors = "face-blur" }]
  }

  expect_failures = [var.cameras]
}

run "a_duplicate_is_refused" {
  command = plan

  variables {
    cameras = [
      { stream_id = "cam-1", region = "eu", processor_ids = "object-detection" },
      { stream_id = "cam-1 ", region = "eu", processor_ids = "face-blur" },
    ]
  }

  expect_failures = [var.cameras]
}

run "an_unknown_region_is_refused" {
  command = plan

  variables {
    cameras = [{ stream_id = "cam-1", region = "ue", processor_ids = "face-blur" }]
  }

  expect_failures = [var.cameras]
}

run "an_unknown_processor_is_refused" {
  command = plan

  variables {
    cameras = [{ stream_id = "cam-1", region = "eu", processor_ids = "face-blurr" }]
  }

  expect_failures = [var.cameras]
}
