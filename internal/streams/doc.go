// Package streams is a client for version 2 of the stream management service. It has no dependency on Terraform.
//
// INTERFACE.md in this directory describes the service's interface: what is specified, what is not
// shown, and what the provider does. Comments cite its sections.
package streams
