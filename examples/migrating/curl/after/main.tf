removed {
  from = terraform_data.entrance

  lifecycle {
    destroy = false # the destroy provisioner must not run: it would detach the processors
  }
}

resource "stream_processors" "entrance" {
  stream_id     = "cam-1"
  processor_ids = ["object-detection", "people-counter"]
}
