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
}

const providerResource = `
resource "stream_processors" "this" {
  count         = var.streams
  stream_id     = "stream-${count.index}"
  processor_ids = var.processor_ids
}
`

const dataResource = `
resource "terraform_data" "this" {
  count = var.streams
  input = { stream_id = "stream-${count.index}", processor_ids = var.processor_ids }
}
`

const curlResource = `
resource "terraform_data" "this" {
  count            = var.streams
  triggers_replace = var.processor_ids
  provisioner "local-exec" {
    command = "curl --silent --show-error --fail -X PATCH -H 'Content-Type: application/json' -d '${jsonencode({ processor_ids = var.processor_ids })}' $STREAM_BASE_URL/v2/streams/stream-${count.index}"
  }
}
`

// yardsticks returns this provider, first, and what to compare it with. The arguments are the paths of the
// two providers' programs.
func yardsticks(this, nothing string, parallelism int) []contender {
	all := []contender{
		{name: "this provider", resource: providerResource, provider: this, sends: true},
		{name: "this provider, `-parallelism=64`", resource: providerResource, provider: this, sends: true, parallelism: 64},
		{name: "this provider, local state", resource: providerResource, provider: this, sends: true, localState: true},
		{name: "a provider that does nothing", resource: providerResource, provider: nothing},
		{name: "`terraform_data`", resource: dataResource},
		{name: "`terraform_data` + curl", resource: curlResource, sends: true},
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
	text := "variable \"streams\" { type = number }\nvariable \"processor_ids\" { type = set(string) }\n" + c.resource
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
