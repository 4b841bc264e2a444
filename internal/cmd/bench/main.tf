variable "form" { type = string }
variable "streams" { type = number }
variable "changed" { type = number } # how many of the streams have the new set

locals {
  old = ["6f1c0f8e-0001-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0002-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0003-4c5e-9a51-2f4b8a3d7e10"]
  new = ["6f1c0f8e-0001-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0002-4c5e-9a51-2f4b8a3d7e10", "6f1c0f8e-0004-4c5e-9a51-2f4b8a3d7e10"]
}

resource "stream_processors" "single" {
  count         = var.form == "single" ? var.streams : 0
  stream_id     = "stream-${count.index}"
  processor_ids = count.index < var.changed ? local.new : local.old
}

resource "stream_processors_group" "group" {
  count = var.form == "group" ? ceil(var.streams / 500) : 0
  streams = {
    for i in range(500 * count.index, min(500 * (count.index + 1), var.streams)) :
    "stream-${i}" => i < var.changed ? local.new : local.old
  }
}

module "part" {
  source  = "./part"
  count   = var.form == "part" ? ceil(var.streams / 100) : 0
  first   = 100 * count.index
  streams = min(100, var.streams - 100 * count.index)
  changed = var.changed
  old     = local.old
  new     = local.new
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
