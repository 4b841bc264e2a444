variable "form" { type = string }
variable "streams" { type = number }
variable "size" { type = number }    # streams in a group
variable "changed" { type = number } # how many of the streams have the new set

locals {
  # range returns 1,024 numbers at most.
  all = flatten([for i in range(ceil(var.streams / 1000)) : range(1000 * i, min(1000 * (i + 1), var.streams))])
  old = ["6f1c0f8e-0001-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0002-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0003-4c5e-9a51-2f4b8a3d7e10"]
  new = ["6f1c0f8e-0001-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0002-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0004-4c5e-9a51-2f4b8a3d7e10"]
}

provider "stream" {
  max_concurrent_requests = 64 # as many as the Go loop
}

resource "stream_processors" "single" {
  count         = var.form == "single" ? var.streams : 0
  stream_id     = "stream-${count.index}"
  processor_ids = count.index < var.changed ? local.new : local.old
}

resource "stream_processors_group" "group" {
  count = var.form == "group" ? ceil(var.streams / var.size) : 0
  streams = {
    for i in slice(local.all, var.size * count.index, min(var.size * (count.index + 1), var.streams)) :
    "stream-${i}" => i < var.changed ? local.new : local.old
  }
}

resource "terraform_data" "data" {
  count = var.form == "data" ? var.streams : 0
  input = { stream_id = "stream-${count.index}", processor_ids = count.index < var.changed ? local.new : local.old }
}

terraform {
  backend "http" {} # TF_HTTP_ADDRESS has its address
  required_providers {
    stream = { source = "stream-management/stream" }
  }
}
