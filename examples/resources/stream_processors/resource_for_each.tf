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

output "terminals" {
  description = "The terminal of each stream, as the service reported it."
  value       = { for id, stream in stream_processors.camera : id => stream.terminal_id }
}
