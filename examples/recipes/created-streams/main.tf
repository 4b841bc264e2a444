locals {
  cameras = {
    "cam-1" = ["object-detection", "people-counter"]
    "cam-2" = ["object-detection"]
  }
}

# In place of terraform_data: the resource that creates a stream.
resource "terraform_data" "stream" {
  for_each = local.cameras

  input = each.key
}

resource "stream_processors" "camera" {
  for_each = local.cameras

  # The id of the stream, from an attribute that is known after apply while the stream does not exist.
  stream_id     = terraform_data.stream[each.key].output
  processor_ids = each.value

  # A stream that is created again has no processors: a new value sends its set.
  triggers = {
    created = terraform_data.stream[each.key].id
  }
}
