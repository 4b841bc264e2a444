output "stream_ids" {
  description = "The ids of the streams in each region."
  value       = { for region in local.regions : region => keys(local.cameras[region]) }
}
