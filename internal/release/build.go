package release

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build writes the archives, the manifest and the sums, but no signature.
func (r *Release) Build(ctx context.Context) error {
	manifest, err := os.ReadFile(r.sourceManifest())
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.Manifest(), manifest, 0o644); err != nil {
		return err
	}
	for _, p := range r.Platforms {
		program, err := r.compile(ctx, p)
		if err != nil {
			return err
		}
		if err := r.pack(p, program); err != nil {
			return err
		}
	}
	return r.writeSums()
}

// compile returns the content of the program for a platform.
func (r *Release) compile(ctx context.Context, p Platform) ([]byte, error) {
	temp, err := os.MkdirTemp("", "stream-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	program := filepath.Join(temp, r.programName(p))
	args := append([]string{"build", "-o", program}, r.config.list("builds.flags")...)
	build := exec.CommandContext(ctx, "go", append(args, "-ldflags", r.fillTemplate("builds.ldflags", p), ".")...)
	build.Dir = r.root
	build.Env = append(os.Environ(), r.config.list("builds.env")...)
	build.Env = append(build.Env, "GOOS="+p.OS, "GOARCH="+p.Arch, "GOFLAGS=", "GOWORK=off",
		"GOARM="+strings.Join(r.config.list("builds.goarm"), ""))
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building for %s: %w\n%s", p, err, out)
	}
	return os.ReadFile(program)
}

// pack writes the archive for a platform: the program, and the licence files if there are any.
func (r *Release) pack(p Platform, program []byte) error {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	add := func(name string, mode fs.FileMode, content []byte) error {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: r.commitTime}
		header.SetMode(mode)
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		_, err = entry.Write(content)
		return err
	}
	licences, err := r.licences()
	if err != nil {
		return err
	}
	for _, licence := range licences {
		content, err := os.ReadFile(licence)
		if err != nil {
			return err
		}
		if err := add(filepath.Base(licence), 0o644, content); err != nil {
			return err
		}
	}
	if err := add(r.programName(p), 0o755, program); err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return os.WriteFile(r.Zip(p), packed.Bytes(), 0o644)
}

// writeSums writes the sums of all files that a registry serves.
func (r *Release) writeSums() error {
	var sums strings.Builder
	for _, path := range r.filesWithSum() {
		sum, err := fileSum(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, filepath.Base(path))
	}
	return os.WriteFile(r.Sums(), []byte(sums.String()), 0o644)
}

func fileSum(path string) (string, error) {
	content, err := os.ReadFile(path)
	return sum(content), err
}

func sum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }
