list "stream_processors" "cameras" {
  provider = stream

  # Terraform lists at most 100 resources unless limit says otherwise.
  limit = 5000

  config {
    stream_ids = compact(split("\n", replace(file("${path.module}/ids.txt"), "\r", "")))
  }
}
