variable "cameras" {
  type = map(set(string)) # the processors of each camera

  default = {
    "cam-1" = ["object-detection", "people-counter"]
  }

  validation {
    condition     = alltrue([for ids in values(var.cameras) : length(setsubtract(ids, ["object-detection", "people-counter"])) == 0])
    error_message = "The known processors are object-detection and people-counter."
  }
}

resource "stream_processors" "camera" {
  for_each = var.cameras

  stream_id     = each.key
  processor_ids = each.value
}
