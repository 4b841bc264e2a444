locals {
  cameras = {
    gate    = { stream_id = "cam-1", processor_ids = ["object-detection", "people-counter"] }
    parking = { stream_id = "cam-2", processor_ids = ["object-detection"] }
  }

  # These cameras keep their processors when they leave.
  leaving = ["parking"]
}

resource "stream_processors" "camera" {
  for_each = local.cameras

  stream_id     = each.value.stream_id
  processor_ids = each.value.processor_ids

  on_destroy = contains(local.leaving, each.key) ? "keep" : "detach"
}

# The key "gate" was "entrance".
moved {
  from = stream_processors.camera["entrance"]
  to   = stream_processors.camera["gate"]
}

# The camera with the key "yard" has a resource of its own now.
moved {
  from = stream_processors.camera["yard"]
  to   = stream_processors.yard
}

resource "stream_processors" "yard" {
  stream_id     = "cam-3"
  processor_ids = ["object-detection"]
}
