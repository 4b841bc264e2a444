terraform {
  required_version = ">= 1.7"

  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1"
    }
  }
}

# The address and the credentials come from the environment, such as STREAM_BASE_URL and STREAM_TOKEN.
provider "stream" {}

variable "stream_id_pattern" {
  description = "Regular expression that each stream id must match."
  type        = string
  default     = "^cam-[0-9]+$"
}

variable "known_processors" {
  description = "Ids of all processors that exist. The plan then finds typos in the file. Default: no check."
  type        = list(string)
  default     = null
}

locals {
  # The file is decoded once. In for_each, it would be decoded again for each instance.
  streams = yamldecode(file("${path.module}/streams.yaml"))

  # The group of a stream is the start of a hash of its id: one digit makes 16 groups, two digits make 256. A site or a
  # customer is a good group, too. A position in the file is not: an inserted line would move streams to other groups.
  ids_by_group = { for id in keys(local.streams) : substr(sha256(id), 0, 1) => id... }
}

resource "stream_processors_group" "fleet" {
  for_each = local.ids_by_group

  streams = { for id in each.value : id => local.streams[id] }

  lifecycle {
    precondition {
      condition     = alltrue([for id in each.value : can(regex(var.stream_id_pattern, id))])
      error_message = "Stream ids that do not match ${var.stream_id_pattern}: ${join(", ", [for id in each.value : id if !can(regex(var.stream_id_pattern, id))])}."
    }
    precondition {
      condition = var.known_processors == null || alltrue([
        for id in each.value : length(setsubtract(local.streams[id], coalesce(var.known_processors, []))) == 0
      ])
      error_message = "Unknown processors of streams: ${join(", ", [
        for id in each.value : id if length(setsubtract(local.streams[id], coalesce(var.known_processors, []))) > 0
      ])}."
    }
  }
}
