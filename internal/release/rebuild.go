package release

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Rebuild builds the programs of the given platforms once more and returns an error unless the archives have
// the same programs, byte by byte. It builds a clone of the last commit in another folder, with a build
// cache that is empty at first.
func (r *Release) Rebuild(ctx context.Context, platforms []Platform) (err error) {
	temp, err := os.MkdirTemp("", "stream-rebuild-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	clone := filepath.Join(temp, "clone")
	if _, err := git(ctx, r.root, "clone", "--quiet", ".", clone); err != nil {
		return err
	}
	env := []string{"GOCACHE=" + filepath.Join(temp, "cache")}
	var problems []error
	for _, p := range platforms {
		program := filepath.Join(temp, r.programName(p))
		if err := compile(ctx, clone, program, r.Version, p, env...); err != nil {
			return err
		}
		rebuilt, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		problems = append(problems, r.compareProgram(p, rebuilt))
	}
	return errors.Join(problems...)
}

// compareProgram returns an error unless the archive for a platform has this program.
func (r *Release) compareProgram(p Platform, rebuilt []byte) error {
	released, err := r.program(p)
	if err == nil && !bytes.Equal(rebuilt, released) {
		err = fmt.Errorf("%s: the program has the sum %s, a second build has %s", p, sum(released), sum(rebuilt))
	}
	return err
}

// compile builds the program as .goreleaser.yml says.
func compile(ctx context.Context, dir, program, version string, p Platform, env ...string) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X main.version="+version, "-o", program, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), env...)
	build.Env = append(build.Env, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOOS="+p.OS, "GOARCH="+p.Arch, "GOARM=6")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building for %s: %w\n%s", p, err, out)
	}
	return nil
}

// program returns the content of the program in the archive for a platform.
func (r *Release) program(p Platform) ([]byte, error) {
	archive, err := zip.OpenReader(r.Zip(p))
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	for _, file := range archive.File {
		if file.Name == r.programName(p) {
			return unpack(file)
		}
	}
	return nil, fmt.Errorf("%s has no %s", filepath.Base(r.Zip(p)), r.programName(p))
}
