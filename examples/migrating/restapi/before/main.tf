terraform {
  required_providers {
    restapi = {
      source = "Mastercard/restapi"
    }
  }
}

provider "restapi" {
  uri                  = "https://streams.example.com"
  create_method        = "PATCH"
  update_method        = "PATCH"
  write_returns_object = true
}

resource "restapi_object" "entrance" {
  path        = "/v2/streams"
  create_path = "/v2/streams/{id}"
  object_id   = "cam-1"
  data        = jsonencode({ processor_ids = ["object-detection", "people-counter"] })
}
