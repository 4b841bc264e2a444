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
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const module = "github.com/stream-management/terraform-provider-stream"

const whatNext = `
What next:
  docs/guides/testing-modules.md   play with the stand-in service yourself
  docs/guides/existing-streams.md  manage streams that already have processors
  docs/index.md                    read the provider's documentation
`

func main() {
	program := flag.String("cli", "", "run this Terraform or OpenTofu `program` instead of the one on PATH")
	provider := flag.String("provider", "", "use this provider `program` instead of building one")
	flag.Parse()

	// SIGHUP and SIGPIPE: the terminal, or the reader of the output, has gone.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	err := run(ctx, *program, *provider)
	switch {
	case ctx.Err() != nil:
		fmt.Println("\nInterrupted. All temporary files are removed.")
		os.Exit(130)
	case err != nil:
		fmt.Printf("\n%s %s\n", red("The demo failed:"), err)
		os.Exit(1)
	}
	fmt.Printf("\n%s Every step had the expected result.\n%s", green("The demo succeeded."), whatNext)
}

// run runs all steps in a temporary folder, and removes the folder.
func run(ctx context.Context, program, provider string) (err error) {
	dir, err := os.MkdirTemp("", "stream-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	if program == "" {
		if program, err = findCLI(ctx, dir); err != nil {
			return err
		}
	}
	if provider == "" {
		err := compile(ctx, "the provider", module, func(p *progress) (err error) {
			provider, err = cli.Build(ctx, dir, p, "-v")
			return err
		})
		if err != nil {
			return err
		}
	}
	sandbox, err := cli.NewSandbox(dir, program, provider)
	if err != nil {
		return err
	}
	service := streamstest.New(streamstest.Options{
		ServeGet:        true,
		KnownProcessors: []string{"face-blur", "object-detection", "people-counter", "plate-reader"},
	})
	address, stop, err := serve(ctx, service)
	if err != nil {
		return err
	}
	defer stop()

	work := filepath.Join(dir, "cameras")
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	return (&demo{sandbox: sandbox, service: service, address: address, dir: work}).run(ctx)
}

// findCLI returns the path of the installed CLI. If there is none, it downloads the newest Terraform into dir.
func findCLI(ctx context.Context, dir string) (string, error) {
	program, err := cli.Find()
	if !errors.Is(err, cli.ErrNone) {
		return program, err
	}
	fmt.Println("Neither terraform nor tofu is on PATH. The demo downloads the newest Terraform\ninto a temporary folder.")
	pkg, downloader := module+"/internal/cmd/demo/terraform", filepath.Join(dir, "download.exe")
	err = compile(ctx, "the downloader", pkg, func(p *progress) error {
		return cli.Compile(ctx, pkg, downloader, p, "-v")
	})
	if err != nil {
		return "", err
	}
	var stdout, stderr strings.Builder
	download := exec.CommandContext(ctx, downloader, dir)
	download.Stdout, download.Stderr = &stdout, &stderr
	if err := download.Run(); err != nil {
		return "", fmt.Errorf("downloading Terraform: %w: %s", err, stderr.String())
	}
	return strings.TrimSpace(stdout.String()), nil
}

// serve starts the service on a free loopback port. It returns the base URL and a function that stops it.
func serve(ctx context.Context, service http.Handler) (string, func(), error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: service, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // returns ErrServerClosed
	return "http://" + listener.Addr().String(), func() { server.Close() }, nil
}
