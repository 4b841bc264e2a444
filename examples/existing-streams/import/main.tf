terraform {
  required_version = ">= 1.7"

  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1"
    }
  }
}

provider "stream" {
  detect_drift = true
}

locals {
  rows    = csvdecode(file("${path.module}/cameras.csv"))
  cameras = { for row in local.rows : row.stream_id => compact(split(" ", row.processor_ids)) }
}

import {
  for_each = local.cameras

  to = stream_processors.camera[each.key]
  id = each.key
}

resource "stream_processors" "camera" {
  for_each = local.cameras

  stream_id     = each.key
  processor_ids = each.value
}
