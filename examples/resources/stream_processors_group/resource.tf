resource "stream_processors_group" "entrance" {
  streams = {
    "cam-1" = ["object-detection", "people-counter"]
    "cam-2" = ["object-detection"]
    "cam-3" = [] # no processors
  }
}
