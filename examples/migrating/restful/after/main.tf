provider "stream" {}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection", "people-counter"]
}

moved {
  from = restful_operation.entrance
  to   = stream_processors.entrance
}
