provider "stream" {
  base_url = var.base_url
}

provider "stream" {
  alias    = "alt"
  base_url = var.base_url_alt
}

# The state keeps the deployment. Without the line "provider", the next apply would send the set to the other region, to
# a stream with the same id, and cam-2 in this region would keep its processors.
resource "stream_processors" "harbor" {
  provider = stream.alt

  stream_id     = "cam-2"
  processor_ids = ["object-detection"]
}
