locals {
  # A spreadsheet may add a byte order mark, and spaces.
  rows    = csvdecode(trimprefix(file("${path.module}/cameras.csv"), "\ufeff"))
  cameras = { for row in local.rows : trimspace(row.stream_id) => regexall("[^\\s,;]+", row.processor_ids) }

  # The first digit of a hash of the id makes 16 groups, and two digits make 256. A site is a good group, too, but not a
  # position in the file: an inserted line would move streams.
  ids_by_group = { for id in keys(local.cameras) : substr(sha256(id), 0, 1) => id... }
}

resource "stream_processors_group" "fleet" {
  for_each = local.ids_by_group

  streams = { for id in each.value : id => local.cameras[id] }
}
