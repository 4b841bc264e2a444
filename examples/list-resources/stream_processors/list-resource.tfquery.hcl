list "stream_processors" "cameras" {
  provider = stream

  # Terraform lists at most 100 resources unless limit says otherwise.
  limit = 5000

  config {
    stream_ids = compact([for id in split("\n", trimprefix(file("${path.module}/ids.txt"), "\ufeff")) : trimspace(id)])
  }
}
