variable "send_again" {
  description = "A new value sends all sets again."
  type        = string
  default     = ""
}

resource "stream_processors" "camera" {
  for_each = toset(["cam-1", "cam-2"])

  stream_id     = each.key
  processor_ids = ["object-detection"]

  triggers = {
    send_again = var.send_again
  }
}

# The value that was applied last.
output "send_again" {
  value = var.send_again
}
