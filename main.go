// Command terraform-provider-stream is the Terraform provider for a stream management service.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/server"
)

// version is set by the linker.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "serve for a debugger, and print how Terraform attaches")
	showVersion := flag.Bool("version", false, "print the version and exit")
	flag.Parse()
	if *showVersion {
		fmt.Println(version)
		return
	}
	server.DropLibraryLogs()
	server.Tune()
	var opts []tf6server.ServeOpt
	var host provider.Host
	if *debug {
		opts = append(opts, tf6server.WithManagedDebug())
	} else {
		host.Command = server.Command
		server.EndWithTerraform()
	}
	if err := tf6server.Serve(provider.Address, server.New(version, &host), opts...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
