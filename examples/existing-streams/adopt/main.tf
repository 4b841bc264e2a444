provider "stream" {
  detect_drift = true
}

locals {
  cameras = jsondecode(file("${path.module}/streams.json"))
}

resource "stream_processors" "camera" {
  for_each = local.cameras

  stream_id     = each.key
  processor_ids = each.value
}

import {
  for_each = local.cameras

  to = stream_processors.camera[each.key]
  id = each.key
}
