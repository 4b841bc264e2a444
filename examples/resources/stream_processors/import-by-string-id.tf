import {
  to = stream_processors.entrance
  id = "cam-1"
}
