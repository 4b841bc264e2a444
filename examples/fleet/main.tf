locals {
  text    = file("${path.module}/streams.yaml")
  streams = yamldecode(local.text)

  # The first digit of a hash of the id makes 16 groups, and two digits make 256. A site is a good group, too. A position in
  # the file is not: an inserted line would move streams to other groups.
  ids_by_group = { for id in keys(local.streams) : substr(sha256(id), 0, 1) => id... }

  # Streams whose id has no quotes, and processors that YAML has made numbers or truth values.
  unquoted = concat(
    flatten(regexall("(?m)^ *([^\"# \\n][^#\\n]*):(?:\\s|$)", local.text)),
    [for id in flatten(values(local.streams)) : id if id != tostring(id)],
  )
}

resource "stream_processors_group" "fleet" {
  for_each = local.ids_by_group

  streams = { for id in each.value : id => local.streams[id] }
}

output "count" {
  value = length(local.streams)

  precondition {
    condition     = length(local.unquoted) == 0
    error_message = "Write these ids in double quotes: ${join(", ", local.unquoted)}."
  }
}
