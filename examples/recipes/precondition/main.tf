locals {
  text    = file("${path.module}/cameras.yaml")
  cameras = yamldecode(local.text)
  known   = { for id in yamldecode(file("${path.module}/processors.yaml")) : id => true }

  unknown = flatten([for id, processors in local.cameras : [
    for processor in processors[*] : "${id}: ${processor}" if !can(local.known[processor])
  ]])

  # Ids of streams without quotes, and ids of processors that YAML has read as numbers or as true and false.
  unquoted = concat(
    flatten(regexall("(?m)^ *([^\"# \\n][^#\\n]*):(?:\\s|$)", local.text)),
    [for id in flatten(values(local.cameras)) : id if id != tostring(id)],
  )
}

resource "stream_processors" "camera" {
  for_each = local.cameras

  stream_id     = each.key
  processor_ids = each.value
}

output "count" {
  value = length(local.cameras)

  precondition {
    condition     = length(local.unknown) == 0
    error_message = "Unknown processors: ${join(", ", local.unknown)}."
  }

  precondition {
    condition     = length(local.unquoted) == 0
    error_message = "Write these ids in double quotes: ${join(", ", local.unquoted)}."
  }
}
