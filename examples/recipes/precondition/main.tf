locals {
  text    = file("${path.module}/cameras.yaml")
  cameras = yamldecode(local.text)
  known   = { for id in yamldecode(file("${path.module}/processors.yaml")) : id => true }

  # Processors that are unknown or numbers, and streams whose id has no quotes.
  wrong = concat(
    flatten([for id, processors in local.cameras : [
      for processor in processors[*] : "${id}: ${processor}" if !can(local.known[processor]) || processor != tostring(processor)
    ]]),
    flatten(regexall("(?m)^ *([^\"# \\n][^#\\n]*):(?:\\s|$)", local.text)),
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
    condition     = length(local.wrong) == 0
    error_message = "Unknown, or not in double quotes: ${join(", ", local.wrong)}."
  }
}
