# This test needs the stand-in services of the README. At the end, cam-1 and cam-3 have no processors.
provider "stream" {
  alias    = "eu"
  base_url = "http://127.0.0.1:8420"
  token    = "dev-secret"
}

provider "stream" {
  alias    = "us"
  base_url = "http://127.0.0.1:8421"
  token    = "dev-secret"
}

run "attach" {
  variables {
    cameras = [
      { stream_id = "cam-1", region = "eu", processor_ids = "object-detection" },
      { stream_id = "cam-3", region = "us", processor_ids = "face-blur object-detection" },
    ]
  }

  assert {
    condition     = stream_processors.eu["cam-1"].last_edited > 0 && stream_processors.us["cam-3"].last_edited > 0
    error_message = "The service must report the time of each edit."
  }
}
