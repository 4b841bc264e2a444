locals {
  cameras = {
    "cam-3" = ["object-detection"]
    "cam-4" = ["object-detection", "face-blur"]
    "cam-5" = [] # no processors
  }
}

resource "stream_processors" "camera" {
  for_each = local.cameras

  stream_id     = each.key
  processor_ids = each.value
}
