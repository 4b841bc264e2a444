provider "stream" {
  base_url = var.base_url
}

provider "stream" {
  alias    = "alt"
  base_url = var.base_url_alt
}

# Without the line "provider", the set would be sent to a stream with the same id in the other region.
resource "stream_processors" "harbor" {
  provider = stream.alt

  stream_id     = "cam-2"
  processor_ids = ["object-detection"]
}
