# In place of terraform_data: the resource that creates a processor.
resource "terraform_data" "processor" {
  for_each = toset(["object-detection", "people-counter"])

  input = each.key

  # Terraform then destroys a processor after the update that detaches it.
  lifecycle {
    create_before_destroy = true
  }
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = [for processor in terraform_data.processor : processor.output]
}
