import {
  to = stream_processors.entrance

  identity = {
    stream_id = "cam-1"
  }
}
