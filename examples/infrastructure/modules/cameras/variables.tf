variable "cameras" {
  description = "The rows of a CSV file. In processor_ids, white space, commas and semicolons separate ids."
  type        = list(object({ stream_id = optional(string, ""), region = optional(string, ""), processor_ids = optional(string) }))

  validation {
    condition     = length(var.cameras) > 0
    error_message = "There are no cameras. To detach all processors, destroy the configuration."
  }

  validation {
    condition = alltrue([for camera in var.cameras : can(regex("^[^\\s,;]+$", trimspace(camera.stream_id))) && camera.processor_ids != null])
    error_message = format("Rows without processor_ids, or without a stream_id that is one word: %s. %s", join(", ", toset([
      for camera in var.cameras : jsonencode(camera) if !can(regex("^[^\\s,;]+$", trimspace(camera.stream_id))) || camera.processor_ids == null
    ])), "The first line is stream_id,region,processor_ids. If the file has semicolons between its columns, save it with commas.")
  }

  validation {
    condition = length(toset([
      for camera in var.cameras : "${trimspace(camera.stream_id)} in ${trimspace(camera.region)}" if camera.stream_id != ""
    ])) == length([for camera in var.cameras : camera if camera.stream_id != ""])
    error_message = format("Streams with more than one row: %s. Write all processors of a stream into one row.", join(", ", [
      for stream, rows in { for camera in var.cameras : "${trimspace(camera.stream_id)} in ${trimspace(camera.region)}" => camera... } : stream if length(rows) > 1
    ]))
  }

  validation {
    condition = length(setsubtract([for camera in var.cameras : trimspace(camera.region) if camera.stream_id != ""], local.regions)) == 0
    error_message = format("Unknown regions: %s. The regions are %s.", join(", ", [
      for camera in var.cameras : "${jsonencode(camera.region)} of ${jsonencode(camera.stream_id)}" if !contains(local.regions, trimspace(camera.region))
    ]), join(" and ", local.regions))
  }

  validation {
    condition = length(setsubtract(regexall("[^\\s,;]+", join(" ", compact(var.cameras[*].processor_ids))), local.processors)) == 0
    error_message = format("Unknown processors: %s. The processors are %s.", join(", ", flatten([
      for camera in var.cameras : [for id in setsubtract(regexall("[^\\s,;]+", coalesce(camera.processor_ids, " ")), local.processors) : "${jsonencode(id)} of ${camera.stream_id}"]
    ])), join(", ", local.processors))
  }
}

variable "on_create" {
  type    = string
  default = null
}

variable "triggers" {
  type    = map(string)
  default = null
}
