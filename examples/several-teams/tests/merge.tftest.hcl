# These tests need no service: the mock sends nothing.
mock_provider "stream" {}

run "each_stream_gets_the_processors_of_all_teams" {
  command = plan

  variables {
    folder = "tests/teams"
  }

  assert {
    condition     = stream_processors.camera["cam-1"].processor_ids == toset(["object-detection", "plate-reader"])
    error_message = "cam-1 must have the processors of both teams, each of them once."
  }

  assert {
    condition     = length(stream_processors.camera["cam-2"].processor_ids) == 0
    error_message = "cam-2 must have no processors."
  }
}

# The files of the teams are valid: every stream of every team is planned.
run "team_files_are_valid" {
  command = plan

  assert {
    condition     = length(stream_processors.camera) > 0
    error_message = "No team has a stream."
  }
}
