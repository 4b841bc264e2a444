variable "cameras" {
  type = map(set(string)) # the processors of each camera
}

variable "everywhere" {
  type    = set(string) # the processors of every camera
  default = []
}

resource "stream_processors" "camera" {
  for_each = var.cameras

  stream_id     = each.key
  processor_ids = setunion(each.value, var.everywhere)
}

output "terminals" {
  value = { for id, stream in stream_processors.camera : id => stream.terminal_id }
}
