provider "stream" {
  detect_drift = true
}

locals {
  # A spreadsheet may add a byte order mark, and spaces.
  rows    = csvdecode(trimprefix(file("${path.module}/cameras.csv"), "\ufeff"))
  cameras = { for row in local.rows : trimspace(row.stream_id) => regexall("[^\\s,;]+", row.processor_ids) }
}

resource "stream_processors" "camera" {
  for_each = local.cameras

  stream_id     = each.key
  processor_ids = each.value

  on_create = "refuse"

  # A destroy, or a line removed from the list, leaves the processors attached.
  on_destroy = "keep"
}
