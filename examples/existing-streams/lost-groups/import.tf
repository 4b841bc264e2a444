import {
  for_each = local.ids_by_group

  to = stream_processors_group.fleet[each.key]
  id = jsonencode(each.value)
}
