terraform {
  required_version = ">= 1.7"

  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1"
    }
  }
}

variable "folder" {
  description = "The folder with one YAML file for each team: stream ids with the processors that the team needs."
  type        = string
  default     = "teams"
}

locals {
  teams      = [for file in fileset("${path.module}/${var.folder}", "*.yaml") : yamldecode(file("${path.module}/${var.folder}/${file}"))]
  stream_ids = toset(flatten([for streams in local.teams : keys(streams)]))
}

# Each stream gets the processors of all teams.
resource "stream_processors" "camera" {
  for_each = local.stream_ids

  stream_id     = each.key
  processor_ids = setunion([for streams in local.teams : try(streams[each.key], [])]...)
}
