//go:build linux

package main

// contender is what one row of each table measures: a configuration, and the provider that serves it.
type contender struct {
	name        string
	resource    string // the configuration of the streams
	provider    string // path of the provider's program; "" if the configuration needs none
	sends       bool   // create and update send one request for each stream
	parallelism int    // of the CLI
	localState  bool   // a file, which Terraform rewrites after each resource, instead of remote state
	part        string // the child module in the folder part, if there is one
	largest     int    // number of streams up to which the row runs without -long; 0: every number
}

const providerResource = `
resource "stream_processors" "this" {
  count         = var.streams
  stream_id     = "stream-${count.index}"
  processor_ids = count.index == 0 ? var.first_processor_ids : var.processor_ids
}
`

// groupResource has groups of up to 500 streams.
const groupResource = `
resource "stream_processors_group" "this" {
  count = ceil(var.streams / 500)
  streams = {
    for i in range(min(500, var.streams - 500 * count.index)) : "stream-${500 * count.index + i}" =>
    500 * count.index + i == 0 ? var.first_processor_ids : var.processor_ids
  }
}
`

// partResource has a module for each 100 streams, so that each stream has an address of its own.
const partResource = `
module "part" {
  source              = "./part"
  count               = ceil(var.streams / 100)
  first               = 100 * count.index
  streams             = min(100, var.streams - 100 * count.index)
  processor_ids       = var.processor_ids
  first_processor_ids = var.first_processor_ids
}
`

const part = variables + `
variable "first" { type = number }
terraform {
  required_providers {
    stream = { source = "stream-management/stream" }
  }
}
resource "stream_processors" "this" {
  count         = var.streams
  stream_id     = "stream-${var.first + count.index}"
  processor_ids = var.first + count.index == 0 ? var.first_processor_ids : var.processor_ids
}
`

const variables = `
variable "streams" { type = number }
variable "processor_ids" { type = list(string) }
variable "first_processor_ids" { type = list(string) }
`

const dataResource = `
resource "terraform_data" "this" {
  count = var.streams
  input = { stream_id = "stream-${count.index}", processor_ids = count.index == 0 ? var.first_processor_ids : var.processor_ids }
}
`

const curlResource = `
resource "terraform_data" "this" {
  count            = var.streams
  triggers_replace = count.index == 0 ? var.first_processor_ids : var.processor_ids
  provisioner "local-exec" {
    command = "curl --silent --show-error --fail -X PATCH -H 'Content-Type: application/json' -d '${jsonencode({ processor_ids = count.index == 0 ? var.first_processor_ids : var.processor_ids })}' $STREAM_BASE_URL/v2/streams/stream-${count.index}"
  }
}
`

// Names of the rows in the plot.
const (
	single = "this provider"
	groups = "this provider, groups of 500"
	parts  = "this provider, modules of 100"
)

// yardsticks returns this provider, first, and what to compare it with. The arguments are the paths of the
// two providers' programs.
func yardsticks(this, nothing string, parallelism int) []contender {
	all := []contender{
		{name: single, resource: providerResource, provider: this, sends: true, largest: 1000},
		{name: "this provider, `-parallelism=64`", resource: providerResource, provider: this, sends: true, parallelism: 64, largest: 1000},
		{name: "this provider, local state", resource: providerResource, provider: this, sends: true, localState: true, largest: 1000},
		{name: groups, resource: groupResource, provider: this, sends: true},
		{name: parts, resource: partResource, part: part, provider: this, sends: true, largest: 10000},
		{name: "a provider that does nothing", resource: providerResource, provider: nothing, largest: 1000},
		{name: "`terraform_data`", resource: dataResource, largest: 1000},
		{name: "`terraform_data` + curl", resource: curlResource, sends: true, largest: 1000},
	}
	for i := range all {
		if all[i].parallelism == 0 {
			all[i].parallelism = parallelism
		}
	}
	return all
}

// configuration returns the content of main.tf.
func (c contender) configuration() string {
	text := variables + c.resource
	if c.provider != "" {
		text += `
terraform {
  required_providers {
    stream = { source = "stream-management/stream" }
  }
}
`
	}
	if !c.localState {
		text += `
terraform {
  backend "http" {} # TF_HTTP_ADDRESS has its address
}
`
	}
	return text
}
