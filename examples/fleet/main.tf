variable "known_processors" {
  description = "Ids of all processors that exist, to find typos in the file. Default: no check."
  type        = list(string)
  default     = null
}

locals {
  streams = yamldecode(file("${path.module}/streams.yaml"))

  # The first digit of a hash of the id makes 16 groups, and two digits make 256. A site is a good group, too. A position in
  # the file is not: an inserted line would move streams to other groups.
  ids_by_group = { for id in keys(local.streams) : substr(sha256(id), 0, 1) => id... }

  # The typos of each stream. The splat makes an empty list of a stream without a value.
  unknown = var.known_processors == null ? {} : {
    for id, processors in local.streams : id => join(" ", setsubtract(processors[*], var.known_processors))
  }
}

resource "stream_processors_group" "fleet" {
  for_each = local.ids_by_group

  streams = { for id in each.value : id => local.streams[id] }

  lifecycle {
    precondition {
      condition     = alltrue([for id in each.value : lookup(local.unknown, id, "") == ""])
      error_message = "Unknown processors: ${join("; ", [for id in each.value : "${id}: ${local.unknown[id]}" if lookup(local.unknown, id, "") != ""])}."
    }
  }
}
