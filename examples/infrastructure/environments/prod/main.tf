module "cameras" {
  source = "../../modules/cameras"

  # Spreadsheets may add a byte order mark, and write CR at the ends of lines. csvdecode skips empty lines.
  cameras = csvdecode(replace(trimprefix(file("${path.module}/cameras.csv"), "\ufeff"), "\r", "\n"))

  providers = {
    stream.eu = stream.eu
    stream.us = stream.us
  }
}

output "cameras" {
  description = "The number of cameras in each region."
  value       = module.cameras.count
}
