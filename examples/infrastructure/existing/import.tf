import {
  for_each = toset(module.cameras.stream_ids.eu)
  to       = module.cameras.stream_processors.eu[each.key]
  id       = each.key
}

import {
  for_each = toset(module.cameras.stream_ids.us)
  to       = module.cameras.stream_processors.us[each.key]
  id       = each.key
}
