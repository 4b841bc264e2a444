provider "stream" {
  base_url = "https://streams.example.com"
}

provider "stream" {
  alias    = "alt"
  base_url = "https://streams-alt.example.com"
}

# Without the line "provider", the set would be sent to a stream with the same id in the other region.
resource "stream_processors" "harbor" {
  provider = stream.alt

  stream_id     = "cam-2"
  processor_ids = ["object-detection"]
}
