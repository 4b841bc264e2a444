// Package release checks what a release must be: before the build the source and the signing key, after the
// build the files, and at the end the draft on GitHub. Goreleaser builds the files.
package release

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// project begins the name of each file of a release. Registries require this name.
const project = "terraform-provider-stream"

// Platform is an operating system and an architecture.
type Platform struct {
	OS   string // as in GOOS
	Arch string // as in GOARCH
}

// String returns the platform in the form that file names have, such as linux_amd64.
func (p Platform) String() string { return p.OS + "_" + p.Arch }

// Host returns the platform of this machine.
func Host() Platform { return Platform{runtime.GOOS, runtime.GOARCH} }

// Platforms are the platforms that a release must have.
var Platforms = []Platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"linux", "386"}, {"linux", "arm"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"}, {"windows", "386"},
	{"freebsd", "amd64"}, {"freebsd", "arm64"}, {"freebsd", "386"}, {"freebsd", "arm"},
}

// Release is one version of the provider as files in a folder.
type Release struct {
	// Version has no leading "v".
	Version string

	// Platforms are those that the release must have. Tests set fewer.
	Platforms []Platform

	root, dir  string
	commitTime time.Time // modification time of all files in an archive
}

// New returns the release of a version from the last commit. Root is the folder of the module; dir is the
// folder of the release's files. The error says that git fails.
func New(ctx context.Context, root, dir, version string) (*Release, error) {
	commitTime, err := lastCommitTime(ctx, root)
	if err != nil {
		return nil, err
	}
	return &Release{Version: version, Platforms: Platforms, root: root, dir: dir, commitTime: commitTime}, nil
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

// CheckTag returns an error unless the tag is "v" and the version of the files.
func (r *Release) CheckTag(tag string) error {
	if tag != "v"+r.Version {
		return fmt.Errorf("the files have version %s, the tag is %s", r.Version, tag)
	}
	return nil
}

// Zip returns the path of the archive for a platform.
func (r *Release) Zip(p Platform) string { return r.path(p.String() + ".zip") }

// Manifest returns the path of the file that tells registries the protocol version.
func (r *Release) Manifest() string { return r.path("manifest.json") }

// Sums returns the path of the file with the checksums.
func (r *Release) Sums() string { return r.path("SHA256SUMS") }

// Signature returns the path of the signature of the sums.
func (r *Release) Signature() string { return r.Sums() + ".sig" }

// BillOfMaterials returns the path of the list of the modules in the archive for a platform.
func (r *Release) BillOfMaterials(p Platform) string { return r.Zip(p) + ".sbom.json" }

func (r *Release) path(suffix string) string {
	return filepath.Join(r.dir, project+"_"+r.Version+"_"+suffix)
}

// programName returns the name of the program in an archive.
func (r *Release) programName(p Platform) string {
	name := project + "_v" + r.Version
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

// files returns the paths of all files of a release. A published release has a signature and bills of
// materials, a trial release has neither.
func (r *Release) files(published bool) []string {
	paths := append(r.filesWithSum(), r.Sums())
	if published {
		paths = append(paths, r.Signature())
		for _, p := range r.Platforms {
			paths = append(paths, r.BillOfMaterials(p))
		}
	}
	return paths
}

// source returns the path of the file that is uploaded under the name of the given path. Goreleaser does
// not copy the manifest: it uploads the one in the source tree under another name.
func (r *Release) source(path string) string {
	if path == r.Manifest() {
		if _, err := os.Stat(path); err != nil {
			return filepath.Join(r.root, "terraform-registry-manifest.json")
		}
	}
	return path
}

// licences returns the paths of the licence files of this project.
func licences(root string) ([]string, error) {
	return filepath.Glob(filepath.Join(root, "LICENSE*"))
}

func lastCommitTime(ctx context.Context, root string) (time.Time, error) {
	out, err := git(ctx, root, "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(out, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// git runs git in a folder and returns its output without the last line break.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	var errors strings.Builder
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, errors.String())
	}
	return strings.TrimSpace(string(out)), nil
}
