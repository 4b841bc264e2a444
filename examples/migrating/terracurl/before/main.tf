terraform {
  required_providers {
    terracurl = {
      source = "devops-rob/terracurl"
    }
  }
}

resource "terracurl_request" "entrance" {
  name           = "entrance"
  url            = "https://streams.example.com/v2/streams/cam-1"
  method         = "PATCH"
  headers        = { "Content-Type" = "application/json" }
  request_body   = jsonencode({ processor_ids = ["object-detection", "people-counter"] })
  response_codes = ["200"]
}
