# These tests need no service: the mock sends nothing and makes up the values that the service would report.
mock_provider "stream" {
  mock_resource "stream_processors" {
    defaults = {
      terminal_id = "terminal-1"
    }
  }
}

variables {
  cameras    = { "cam-1" = ["people-counter"] }
  everywhere = ["object-detection"]
}

run "every_camera_gets_the_common_processors" {
  command = plan

  assert {
    condition     = stream_processors.camera["cam-1"].processor_ids == toset(["object-detection", "people-counter"])
    error_message = "cam-1 must have its own processor and the processor for every camera."
  }
}

run "terminals_are_listed_by_stream" {
  assert {
    condition     = output.terminals == { "cam-1" = "terminal-1" }
    error_message = "The output must contain the terminal of each stream."
  }
}
