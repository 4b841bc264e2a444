variable "stream_base_url" {
  description = "Address of the service."
  type        = string
}

locals {
  stream_id = "cam-1"
  body      = jsonencode({ processor_ids = ["object-detection", "people-counter"] })
}

resource "terraform_data" "entrance" {
  triggers_replace = [local.body]

  input = {
    url = "${var.stream_base_url}/v2/streams/${local.stream_id}"
  }

  provisioner "local-exec" {
    command = "curl --fail --silent --show-error -X PATCH -H 'Content-Type: application/json' -d '${local.body}' '${self.input.url}'"
  }

  provisioner "local-exec" {
    when    = destroy
    command = "curl --fail --silent --show-error -X PATCH -H 'Content-Type: application/json' -d '{\"processor_ids\":[]}' '${self.input.url}'"
  }
}
