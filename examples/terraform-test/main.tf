terraform {
  required_version = ">= 1.7"

  required_providers {
    stream = {
      source  = "stream-management/stream"
      version = "~> 0.1.0"
    }
  }
}

variable "cameras" {
  description = "The processors of each camera, by stream id."
  type        = map(set(string))
}

variable "everywhere" {
  description = "Processors for every camera."
  type        = set(string)
  default     = []
}

resource "stream_processors" "camera" {
  for_each = var.cameras

  stream_id     = each.key
  processor_ids = setunion(each.value, var.everywhere)
}

output "terminals" {
  description = "The terminal of each stream, as the service reported it."
  value       = { for id, stream in stream_processors.camera : id => stream.terminal_id }
}
