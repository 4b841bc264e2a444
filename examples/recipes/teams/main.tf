locals {
  # Each team has a file. A spreadsheet may add a byte order mark, and spaces.
  folder = "${path.module}/teams"
  rows   = flatten([for name in fileset(local.folder, "*.csv") : csvdecode(trimprefix(file("${local.folder}/${name}"), "\ufeff"))])

  # Each stream gets the processors of all teams.
  lists   = { for row in local.rows : trimspace(row.stream_id) => regexall("[^\\s,;]+", row.processor_ids)... }
  cameras = { for id, lists in local.lists : id => distinct(flatten(lists)) }
}

resource "stream_processors" "camera" {
  for_each = local.cameras

  stream_id     = each.key
  processor_ids = each.value
}
