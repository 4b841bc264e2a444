//go:build linux

// Command shim runs a provider in the place where the CLI expects one, and records what the provider
// used. It has no dependencies, because each command of the CLI starts it several times.
package main

import (
	"context"
	"log"

	"github.com/stream-management/terraform-provider-stream/internal/cmd/bench/observe"
)

func main() {
	if err := observe.RunProvider(context.Background()); err != nil {
		log.Fatal(err)
	}
}
