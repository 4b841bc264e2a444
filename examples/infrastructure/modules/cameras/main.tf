locals {
  regions = ["eu", "us"]

  # The provider cannot list the processors.
  processors = ["face-blur", "object-detection", "people-counter", "plate-reader"]

  # By region and stream id.
  cameras = { for region in local.regions : region => {
    for camera in var.cameras : trimspace(camera.stream_id) => regexall("[^\\s,;]+", camera.processor_ids)
    if trimspace(camera.region) == region
  } }
}

resource "stream_processors" "eu" {
  provider = stream.eu
  for_each = local.cameras["eu"]

  stream_id     = each.key
  processor_ids = each.value
  on_create     = var.on_create
  triggers      = var.triggers
}

resource "stream_processors" "us" {
  provider = stream.us
  for_each = local.cameras["us"]

  stream_id     = each.key
  processor_ids = each.value
  on_create     = var.on_create
  triggers      = var.triggers
}
