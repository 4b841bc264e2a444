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
}

# Every stream of every team is planned.
run "team_files_are_valid" {
  command = plan
}
