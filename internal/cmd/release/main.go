// Command release builds a trial release of the last commit in dist/ and publishes nothing. It checks that
// registries would accept the release, and that a second build of the same commit in another folder has the
// same contents. With -check, it checks a release that goreleaser has built.
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
	check := flag.Bool("check", false, "check the release in the folder instead of building one")
	published := flag.Bool("published", false, "require a signature, and a bill of materials for each archive")
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

	var checked *release.Release
	if check {
		checked, err = release.Find(ctx, ".", dir)
	} else {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		checked, err = build(ctx, filepath.Join(temp, "first"), dir, version)
	}
	if err != nil {
		return err
	}
	if err := checked.Check(ctx, published); err != nil {
		return err
	}
	again, err := build(ctx, filepath.Join(temp, "another", "place"), filepath.Join(temp, "again"), checked.Version)
	if err != nil {
		return err
	}
	if err := checked.CheckSameContents(again); err != nil {
		return err
	}
	fmt.Printf("%s has version %s for %d platforms. A second build has the same contents.\n",
		dir, checked.Version, len(checked.Platforms))
	return nil
}

// build clones the last commit and writes its release to dir.
func build(ctx context.Context, clone, dir, version string) (*release.Release, error) {
	git := exec.CommandContext(ctx, "git", "-c", "advice.detachedHead=false", "clone", "--quiet", ".", clone)
	git.Stderr = os.Stderr
	if err := git.Run(); err != nil {
		return nil, fmt.Errorf("cloning the repository: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	built, err := release.New(ctx, clone, dir, version)
	if err != nil {
		return nil, err
	}
	return built, built.Build(ctx)
}
