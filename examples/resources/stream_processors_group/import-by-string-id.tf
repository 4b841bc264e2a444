import {
  to = stream_processors_group.entrance
  id = jsonencode(["cam-1", "cam-2"])
}
