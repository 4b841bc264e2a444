# Detach the processors before the model is replaced, and attach them again afterwards.
action "stream_set_processors" "detach" {
  config {
    stream_id     = "cam-2"
    processor_ids = []
  }
}

action "stream_set_processors" "attach" {
  config {
    stream_id     = "cam-2"
    processor_ids = ["object-detection"]
  }
}

resource "terraform_data" "model" {
  input = "2025-06"

  lifecycle {
    action_trigger {
      events  = [before_update]
      actions = [action.stream_set_processors.detach]
    }
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.stream_set_processors.attach]
    }
  }
}
