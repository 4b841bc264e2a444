import {
  for_each = local.cameras

  to = stream_processors.camera[each.key]
  id = each.key
}
