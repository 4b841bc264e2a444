output "count" {
  description = "The number of cameras in each region."
  value       = { for region in local.regions : region => length(local.cameras[region]) }
}
