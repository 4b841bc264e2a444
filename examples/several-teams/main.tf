locals {
  folder = "${path.module}/teams" # has one YAML file for each team
  texts  = [for name in fileset(local.folder, "*.{yaml,yml}") : file("${local.folder}/${name}")]

  # A file without a line of content has no streams.
  teams      = [for text in local.texts : yamldecode(text) if can(regex("(?m)^[^#\\s]", text))]
  stream_ids = toset(flatten([for streams in local.teams : keys(streams)]))

  # Streams whose id has no quotes, and processors that YAML has made numbers or truth values.
  unquoted = concat(
    flatten([for text in local.texts : regexall("(?m)^ *([^\"# \\n][^#\\n]*):(?:\\s|$)", text)]),
    [for id in flatten([for streams in local.teams : values(streams)]) : id if id != tostring(id)],
  )
}

# Each stream gets the processors of all teams. The splat makes an empty list of a stream without a value.
resource "stream_processors" "camera" {
  for_each = local.stream_ids

  stream_id     = each.key
  processor_ids = setunion([for streams in local.teams : try(streams[each.key][*], [])]...)
}

output "count" {
  value = length(local.stream_ids)

  precondition {
    condition     = length(local.unquoted) == 0
    error_message = "Write these ids in double quotes: ${join(", ", local.unquoted)}."
  }
}
