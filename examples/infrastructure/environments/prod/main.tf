module "cameras" {
  source = "../../modules/cameras"

  # A spreadsheet may add a byte order mark, CR at the ends of lines, and rows of nothing but commas.
  cameras   = csvdecode(replace(replace(trimprefix(file("${path.module}/cameras.csv"), "\ufeff"), "\r", "\n"), "/(?m)^[\\s,]+$/", ""))
  on_create = var.on_create
  triggers  = var.triggers

  providers = {
    stream.eu = stream.eu
    stream.us = stream.us
  }
}

output "cameras" {
  description = "The number of cameras in each region."
  value       = { for region, ids in module.cameras.stream_ids : region => length(ids) }
}
