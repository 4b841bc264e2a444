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
	"slices"
	"strconv"
	"strings"
	"time"
)

// Release is one version of the provider as files in a folder.
type Release struct {
	// Version has no "v" in front.
	Version string

	// Platforms are those of .goreleaser.yml; tests build fewer.
	Platforms []Platform

	root, dir string
	config    config
	commit    time.Time // the time that all files in an archive have
}

// New describes the release of a version from the last commit. Root is the folder of the module, dir the
// one of the files. The error is that of .goreleaser.yml or of git.
func New(ctx context.Context, root, dir, version string) (*Release, error) {
	config, err := readConfig(root)
	if err != nil {
		return nil, err
	}
	commit, err := commitTime(ctx, root)
	if err != nil {
		return nil, err
	}
	return &Release{
		Version: version, Platforms: config.platforms(), root: root, dir: dir, config: config, commit: commit,
	}, nil
}

// Find describes the release that is in dir already.
func Find(ctx context.Context, root, dir string) (*Release, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*_SHA256SUMS"))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s has %d files with sums, not one", dir, len(found))
	}
	_, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(found[0]), "_SHA256SUMS"), "_")
	return New(ctx, root, dir, version)
}

// Zip returns the path of the archive for a platform.
func (r *Release) Zip(p Platform) string { return r.path("archives.name_template", p) + ".zip" }

// Manifest returns the path of the file that names the protocol.
func (r *Release) Manifest() string { return r.path("checksum.extra_files.name_template", Platform{}) }

// Sums returns the path of the file with the checksums. The signature is beside it, with ".sig" added.
func (r *Release) Sums() string { return r.path("checksum.name_template", Platform{}) }

func (r *Release) path(key string, p Platform) string { return filepath.Join(r.dir, r.fill(key, p)) }

// fill fills in a template of the configuration. What is wrong with it becomes the text, and each use of
// that fails.
func (r *Release) fill(key string, p Platform) string {
	text, err := r.config.fill(key, r.Version, p)
	if err != nil {
		return "invalid: " + err.Error()
	}
	return text
}

// program is the name of the program in an archive.
func (r *Release) program(p Platform) string {
	name := r.fill("builds.binary", p)
	if p.OS == "windows" {
		name += ".exe"
	}
	return name
}

// Build makes the archives, the manifest and the sums, but no signature.
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

// compile returns the program for a platform.
func (r *Release) compile(ctx context.Context, p Platform) ([]byte, error) {
	temp, err := os.MkdirTemp("", "stream-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	program := filepath.Join(temp, r.program(p))
	args := append([]string{"build", "-o", program}, r.config.list("builds.flags")...)
	build := exec.CommandContext(ctx, "go", append(args, "-ldflags", r.fill("builds.ldflags", p), ".")...)
	build.Dir = r.root
	build.Env = append(os.Environ(), r.config.list("builds.env")...)
	build.Env = append(build.Env, "GOOS="+p.OS, "GOARCH="+p.Arch, "GOFLAGS=", "GOWORK=off",
		"GOARM="+strings.Join(r.config.list("builds.goarm"), ""))
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building for %s: %w\n%s", p, err, out)
	}
	return os.ReadFile(program)
}

// pack puts the program for a platform, and a licence if there is one, into an archive.
func (r *Release) pack(p Platform, program []byte) error {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	add := func(name string, mode fs.FileMode, content []byte) error {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: r.commit}
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
	if err := add(r.program(p), 0o755, program); err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return os.WriteFile(r.Zip(p), packed.Bytes(), 0o644)
}

// writeSums writes the sums of all that a registry serves.
func (r *Release) writeSums() error {
	var sums strings.Builder
	for _, path := range r.served() {
		sum, err := sumOf(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, filepath.Base(path))
	}
	return os.WriteFile(r.Sums(), []byte(sums.String()), 0o644)
}

// served lists what has a sum.
func (r *Release) served() []string {
	paths := []string{r.Manifest()}
	for _, p := range r.Platforms {
		paths = append(paths, r.Zip(p))
	}
	slices.Sort(paths)
	return paths
}

func (r *Release) sourceManifest() string {
	return filepath.Join(r.root, "terraform-registry-manifest.json")
}

func (r *Release) licences() ([]string, error) {
	pattern, _ := r.config["archives.files.src"].(string)
	return filepath.Glob(filepath.Join(r.root, pattern))
}

func commitTime(ctx context.Context, root string) (time.Time, error) {
	out, err := exec.CommandContext(ctx, "git", "-C", root, "log", "-1", "--format=%ct").Output()
	if err != nil {
		return time.Time{}, fmt.Errorf("asking git for the time of the commit: %w", err)
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

func sumOf(path string) (string, error) {
	content, err := os.ReadFile(path)
	return sum(content), err
}

func sum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }
