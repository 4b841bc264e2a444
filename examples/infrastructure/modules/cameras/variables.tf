variable "cameras" {
  description = "The rows of a CSV file. The ids in processor_ids are separated by spaces."
  type        = list(object({ stream_id = string, region = string, processor_ids = string }))

  validation {
    condition     = length(var.cameras) > 0
    error_message = "There are no cameras. To detach all processors, destroy the configuration."
  }

  validation {
    condition = length(regexall("[\r\n]", join("", flatten([for camera in var.cameras : values(camera)])))) == 0
    error_message = format("Cells with a line break or a carriage return: %s. Most editors do not show a carriage return.",
    join(", ", [for camera in var.cameras : jsonencode(camera) if length(regexall("[\r\n]", join("", values(camera)))) > 0]))
  }

  validation {
    condition = length(distinct([for camera in var.cameras : [trimspace(camera.stream_id), trimspace(camera.region)]])) == length(var.cameras)
    error_message = format("Streams with more than one row: %s. Write all processors of a stream into one row.", join(", ", [
      for stream, rows in { for camera in var.cameras : "${trimspace(camera.stream_id)} in ${trimspace(camera.region)}" => camera... } : stream if length(rows) > 1
    ]))
  }

  validation {
    condition = length(setsubtract([for camera in var.cameras : trimspace(camera.region)], local.regions)) == 0
    error_message = format("Unknown regions: %s. The regions are %s.", join(", ", [
      for camera in var.cameras : "${jsonencode(camera.region)} of ${jsonencode(camera.stream_id)}" if !contains(local.regions, trimspace(camera.region))
    ]), join(" and ", local.regions))
  }

  validation {
    condition = length(setsubtract(flatten([for camera in var.cameras : compact(split(" ", camera.processor_ids))]), local.processors)) == 0
    error_message = format("Unknown processors: %s. The processors are %s. A space separates two.", join(", ", flatten([
      for camera in var.cameras : [for id in setsubtract(compact(split(" ", camera.processor_ids)), local.processors) : "${jsonencode(id)} of ${camera.stream_id}"]
    ])), join(", ", local.processors))
  }
}
