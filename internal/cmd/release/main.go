// Command release makes a trial release of the last commit in dist/, publishes nothing, and checks it
// against what registries ask for, and against a second build of the same commit in another folder. With
// -check, it checks a release that goreleaser has made.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"github.com/stream-management/terraform-provider-stream/internal/release"
)

func main() {
	log.SetFlags(0)
	version := flag.String("version", "", "the version to build")
	dir := flag.String("dist", "dist", "the `folder` of the release")
	check := flag.Bool("check", false, "check the release that is in the folder, instead of building one")
	published := flag.Bool("published", false, "expect a signature and bills of materials, too")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *version, *dir, *check, *published); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, version, dir string, check, published bool) (err error) {
	temp, err := os.MkdirTemp("", "stream-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()

	var made *release.Release
	if check {
		made, err = release.Find(ctx, ".", dir)
	} else {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		made, err = build(ctx, filepath.Join(temp, "first"), dir, version)
	}
	if err != nil {
		return err
	}
	if err := made.Check(ctx, published); err != nil {
		return err
	}
	again, err := build(ctx, filepath.Join(temp, "another", "place"), filepath.Join(temp, "again"), made.Version)
	if err != nil {
		return err
	}
	if err := made.Same(again); err != nil {
		return err
	}
	fmt.Printf("%s has version %s for %d platforms. A second build is identical.\n", dir, made.Version, len(made.Platforms))
	return nil
}

// build makes a release in dir, from a clone of the last commit.
func build(ctx context.Context, clone, dir, version string) (*release.Release, error) {
	git := exec.CommandContext(ctx, "git", "-c", "advice.detachedHead=false", "clone", "--quiet", ".", clone)
	git.Stderr = os.Stderr
	if err := git.Run(); err != nil {
		return nil, fmt.Errorf("cloning the repository: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	made, err := release.New(ctx, clone, dir, version)
	if err != nil {
		return nil, err
	}
	return made, made.Build(ctx)
}
