package release

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Release is one version of the provider as files in a folder.
type Release struct {
	// Version has no leading "v".
	Version string

	// Platforms are those of .goreleaser.yml. Tests set fewer.
	Platforms []Platform

	root, dir  string
	config     config
	commitTime time.Time // modification time of all files in an archive
}

// New returns the release of a version from the last commit. Root is the folder of the module; dir is the
// folder of the release's files. The error says that .goreleaser.yml cannot be read or that git fails.
func New(ctx context.Context, root, dir, version string) (*Release, error) {
	config, err := readConfig(root)
	if err != nil {
		return nil, err
	}
	commitTime, err := lastCommitTime(ctx, root)
	if err != nil {
		return nil, err
	}
	return &Release{
		Version: version, Platforms: config.platforms(), root: root, dir: dir, config: config, commitTime: commitTime,
	}, nil
}

// Find returns the release whose files are in dir. The error says that dir does not have exactly one file
// with sums, or is that of [New].
func Find(ctx context.Context, root, dir string) (*Release, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*_SHA256SUMS"))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s has %d files with sums, want one", dir, len(found))
	}
	_, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(found[0]), "_SHA256SUMS"), "_")
	return New(ctx, root, dir, version)
}

// Zip returns the path of the archive for a platform.
func (r *Release) Zip(p Platform) string { return r.path("archives.name_template", p) + ".zip" }

// Manifest returns the path of the file that tells registries the protocol version.
func (r *Release) Manifest() string { return r.path("checksum.extra_files.name_template", Platform{}) }

// Sums returns the path of the file with the checksums. The path of its signature has ".sig" added.
func (r *Release) Sums() string { return r.path("checksum.name_template", Platform{}) }

func (r *Release) path(key string, p Platform) string {
	return filepath.Join(r.dir, r.fillTemplate(key, p))
}

// fillTemplate executes a template of the configuration. An error becomes part of the result, so that every
// use of the result as a file name or an argument fails.
func (r *Release) fillTemplate(key string, p Platform) string {
	text, err := r.config.fillTemplate(key, r.Version, p)
	if err != nil {
		return "invalid: " + err.Error()
	}
	return text
}

// programName returns the name of the program in an archive.
func (r *Release) programName(p Platform) string {
	name := r.fillTemplate("builds.binary", p)
	if p.OS == "windows" {
		name += ".exe"
	}
	return name
}

// filesWithSum returns the paths of all files that a registry serves, except the sums and their signature.
func (r *Release) filesWithSum() []string {
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

func lastCommitTime(ctx context.Context, root string) (time.Time, error) {
	out, err := exec.CommandContext(ctx, "git", "-C", root, "log", "-1", "--format=%ct").Output()
	if err != nil {
		return time.Time{}, fmt.Errorf("getting the time of the last commit: %w", err)
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}
