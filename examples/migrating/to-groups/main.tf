locals {
  streams = {
    "cam-1" = ["object-detection", "people-counter"]
    "cam-2" = ["object-detection"]
  }
}

# In place of: resource "stream_processors" "camera"
removed {
  from = stream_processors.camera

  lifecycle {
    destroy = false
  }
}

resource "stream_processors_group" "cameras" {
  for_each = { for id in keys(local.streams) : substr(sha256(id), 0, 1) => id... }

  streams = { for id in each.value : id => local.streams[id] }
}
