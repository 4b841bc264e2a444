provider "stream" {
  alias    = "eu"
  base_url = "https://streams-eu.example.com"
}

provider "stream" {
  alias    = "us"
  base_url = "https://streams-us.example.com"
}

resource "stream_processors" "entrance" {
  provider = stream.eu

  stream_id     = "cam-1"
  processor_ids = ["object-detection", "people-counter"]
}

# Another stream: cam-1 of the other region.
resource "stream_processors" "harbor" {
  provider = stream.us

  stream_id     = "cam-1"
  processor_ids = ["object-detection"]
}
