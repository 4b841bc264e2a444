terraform {
  required_providers {
    restful = {
      source = "magodo/restful"
    }
  }
}

provider "restful" {
  base_url = "https://streams.example.com"
}

resource "restful_operation" "entrance" {
  path   = "/v2/streams/cam-1"
  method = "PATCH"
  body   = { processor_ids = ["object-detection", "people-counter"] }
}
