provider "stream" {
  detect_drift = true
}

locals {
  cameras = jsondecode(file("${path.module}/streams.json"))
}

resource "stream_processors_group" "cameras" {
  streams = local.cameras
}

import {
  to = stream_processors_group.cameras
  id = jsonencode(keys(local.cameras))
}
