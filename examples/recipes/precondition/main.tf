locals {
  # A spreadsheet may add a byte order mark, and spaces.
  rows    = csvdecode(trimprefix(file("${path.module}/cameras.csv"), "\ufeff"))
  cameras = { for row in local.rows : trimspace(row.stream_id) => regexall("[^\\s,;]+", row.processor_ids) }

  known   = ["face-blur", "object-detection", "people-counter"]
  unknown = setsubtract(flatten(values(local.cameras)), local.known)
}

resource "stream_processors" "camera" {
  for_each = local.cameras

  stream_id     = each.key
  processor_ids = each.value
}

output "count" {
  value = length(local.cameras)

  precondition {
    condition     = length(local.cameras) > 0
    error_message = "There are no cameras. To detach all processors, destroy the configuration."
  }

  precondition {
    condition     = length(local.unknown) == 0
    error_message = "Unknown processors: ${join(", ", local.unknown)}."
  }
}
