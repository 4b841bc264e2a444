variable "first" { type = number }
variable "streams" { type = number }
variable "changed" { type = number }
variable "old" { type = list(string) }
variable "new" { type = list(string) }

resource "stream_processors" "single" {
  count         = var.streams
  stream_id     = "stream-${var.first + count.index}"
  processor_ids = var.first + count.index < var.changed ? var.new : var.old
}

terraform {
  required_providers {
    stream = { source = "stream-management/stream" }
  }
}
