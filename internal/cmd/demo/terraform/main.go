// Command terraform downloads the newest Terraform into a folder and prints the path of the program. The demo runs it
// only if no CLI is installed: the checks of the download's signature would make every demo compile for longer.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/hashicorp/hc-install/product"
	"github.com/hashicorp/hc-install/releases"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: terraform FOLDER")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	latest := &releases.LatestVersion{Product: product.Terraform, InstallDir: os.Args[1]}
	program, err := latest.Install(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(program)
}
