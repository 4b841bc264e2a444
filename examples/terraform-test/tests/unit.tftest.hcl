# Needs no service: nothing is sent, and what the service would report is made up here.
mock_provider "stream" {
  mock_resource "stream_processors" {
    defaults = {
      terminal_id = "terminal-1"
    }
  }
}

variables {
  cameras = {
    "cam-1" = ["people-counter"]
    "cam-2" = []
  }
  everywhere = ["object-detection"]
}

run "every_camera_gets_the_common_processors" {
  command = plan

  assert {
    condition     = stream_processors.camera["cam-1"].processor_ids == toset(["object-detection", "people-counter"])
    error_message = "cam-1 must have its own processor and the common one."
  }

  assert {
    condition     = stream_processors.camera["cam-2"].processor_ids == toset(["object-detection"])
    error_message = "cam-2 must have the common processor."
  }
}

run "terminals_are_listed_by_stream" {
  assert {
    condition     = output.terminals == { "cam-1" = "terminal-1", "cam-2" = "terminal-1" }
    error_message = "The output must hold the terminal of each stream."
  }
}
