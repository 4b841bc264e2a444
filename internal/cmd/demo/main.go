// Command demo shows the provider at work. A real Terraform or OpenTofu CLI plans, applies, changes and
// destroys a small configuration, and refuses mistakes. After each step, the demo prints the requests that the
// service received.
//
// The demo only needs Go: if no CLI is installed, it downloads Terraform into a temporary folder. It removes
// everything that it creates. The exit status is 0 if every step succeeds, 1 if a step fails, and 130 if the
// demo is interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hashicorp/hc-install/product"
	"github.com/hashicorp/hc-install/releases"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

func main() {
	// SIGHUP and SIGPIPE: the terminal, or the reader of the output, has gone.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	err := run(ctx)
	switch {
	case ctx.Err() != nil:
		fmt.Println("\nInterrupted. All temporary files are removed.")
		os.Exit(130)
	case err != nil:
		fmt.Printf("\nThe demo failed: %s\n", err)
		os.Exit(1)
	}
	fmt.Println(styled(green, "\nThe demo succeeded.") + " Every step had the expected result.")
}

// run runs all steps in a temporary folder, and removes the folder.
func run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "stream-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	program, err := findCLI(ctx, dir)
	if err != nil {
		return err
	}
	provider, err := cli.Build(ctx, dir)
	if err != nil {
		return err
	}
	sandbox, err := cli.NewSandbox(dir, program, map[string]string{cli.Source: provider})
	if err != nil {
		return err
	}
	service := streamstest.New(streamstest.Options{
		ServeGet:        true,
		KnownProcessors: []string{"face-blur", "object-detection", "people-counter", "plate-reader"},
	}, streamstest.Streams("gate", "loading", "parking")...)
	server := httptest.NewServer(service)
	defer server.Close()

	work := filepath.Join(dir, "cameras")
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	d := &demo{sandbox: sandbox, service: service, dir: work}
	d.configuration = strings.Replace(configuration, "https://streams.example.com", server.URL, 1)
	return d.run(ctx)
}

// findCLI returns the path of the installed CLI. If there is none, it downloads the newest Terraform into dir.
func findCLI(ctx context.Context, dir string) (string, error) {
	program, err := cli.Find()
	if !errors.Is(err, cli.ErrNone) {
		return program, err
	}
	fmt.Println("Neither terraform nor tofu is on PATH. The demo downloads the newest Terraform\ninto a temporary folder.")
	latest := &releases.LatestVersion{Product: product.Terraform, InstallDir: dir}
	if program, err = latest.Install(ctx); err != nil {
		return "", fmt.Errorf(`it needs Terraform or OpenTofu, and could not download Terraform.
Install one of them, so that terraform or tofu is on PATH, or set TF_ACC_TERRAFORM_PATH to its path:

  https://developer.hashicorp.com/terraform/install
  https://opentofu.org/docs/intro/install

The download ended with: %w`, err)
	}
	return program, nil
}
