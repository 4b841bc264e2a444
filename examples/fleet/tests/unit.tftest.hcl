# These tests need no service: the mock sends nothing.
mock_provider "stream" {}

run "each_stream_is_in_one_group" {
  command = plan

  assert {
    condition     = sort(flatten([for group in stream_processors_group.fleet : keys(group.streams)])) == sort(keys(local.streams))
    error_message = "Each stream of the file must be in exactly one group."
  }

  assert {
    condition     = alltrue([for key, group in stream_processors_group.fleet : alltrue([for id in keys(group.streams) : startswith(sha256(id), key)])])
    error_message = "The group of a stream must depend on its id alone."
  }
}

run "all_processors_are_known" {
  command = plan

  variables {
    known_processors = ["object-detection", "people-counter", "face-blur"]
  }
}

run "a_typo_fails_the_plan" {
  command = plan

  variables {
    known_processors = ["object-detection", "people-counter", "face-blurr"]
  }

  expect_failures = [stream_processors_group.fleet]
}

run "another_id_fails_the_plan" {
  command = plan

  variables {
    stream_id_pattern = "^cam-[0-4]$"
  }

  expect_failures = [stream_processors_group.fleet]
}
