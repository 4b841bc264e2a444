data "stream_processors_group" "eu" {
  provider   = stream.eu
  stream_ids = module.cameras.stream_ids.eu
}

data "stream_processors_group" "us" {
  provider   = stream.us
  stream_ids = module.cameras.stream_ids.us
}

# The list of cameras with what is attached now.
output "attached" {
  value = join("\n", concat(["stream_id,region,processor_ids"], flatten([
    for region, group in { eu = data.stream_processors_group.eu, us = data.stream_processors_group.us } :
    [for id, set in group.streams : "${id},${region},${join(" ", set)}"]
  ]), [""]))
}
