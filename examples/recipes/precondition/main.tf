locals {
  known   = yamldecode(file("${path.module}/processors.yaml"))
  cameras = yamldecode(file("${path.module}/cameras.yaml"))
}

resource "stream_processors" "camera" {
  for_each = local.cameras

  stream_id     = each.key
  processor_ids = each.value

  lifecycle {
    precondition {
      condition     = length(setsubtract(each.value, local.known)) == 0
      error_message = "${each.key} has unknown processors: ${join(", ", setsubtract(each.value, local.known))}."
    }
  }
}
