provider "stream" {
  base_url = var.base_url
}

provider "stream" {
  alias    = "alt"
  base_url = var.base_url_alt
}

resource "stream_processors" "harbor" {
  provider = stream.alt

  stream_id     = "cam-2"
  processor_ids = ["object-detection"]
}
