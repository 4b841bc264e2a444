locals {
  entrance = ["object-detection", "people-counter"]
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = local.entrance
}

action "stream_set_processors" "begin_maintenance" {
  config {
    stream_id     = "cam-1"
    processor_ids = []
  }
}

# The set comes from the configuration: with detect_drift, that of the resource is empty during the maintenance.
action "stream_set_processors" "end_maintenance" {
  config {
    stream_id     = "cam-1"
    processor_ids = local.entrance
  }
}
