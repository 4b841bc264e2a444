package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// semver is the form of a version that registries accept.
var semver = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// Check returns an error that lists everything that a registry or a CLI would refuse. A published release
// also needs a signature, and a bill of materials for each archive. A trial release has neither.
func (r *Release) Check(ctx context.Context, published bool) error {
	var problems []error
	report := func(path string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", filepath.Base(path), err))
		}
	}
	if !semver.MatchString(r.Version) {
		report(r.Sums(), fmt.Errorf("%q is not a semantic version", r.Version))
	}
	report(r.dir, r.checkNames(published))
	report(r.Manifest(), r.checkManifest())
	report(r.Sums(), r.checkSums())
	for _, p := range r.Platforms {
		report(r.Zip(p), r.checkZip(ctx, p))
	}
	if published {
		report(r.Sums()+".sig", checkSignature(r.Sums()+".sig"))
	}
	return errors.Join(problems...)
}

// checkNames compares the names of all files with the required names. It ignores the folders and metadata
// that goreleaser leaves, because they are not published.
func (r *Release) checkNames(published bool) error {
	want := []string{filepath.Base(r.Sums())}
	for _, path := range r.filesWithSum() {
		want = append(want, filepath.Base(path))
	}
	if published {
		want = append(want, filepath.Base(r.Sums())+".sig")
		for _, p := range r.Platforms {
			want = append(want, filepath.Base(r.Zip(p))+".sbom.json")
		}
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	var got []string
	project, _ := r.config["project_name"].(string)
	for _, entry := range entries {
		if entry.Type().IsRegular() && strings.HasPrefix(entry.Name(), project) {
			got = append(got, entry.Name())
		}
	}
	if r.uploadsSourceManifest() {
		got = append(got, filepath.Base(r.Manifest()))
	}
	var problems []error
	for _, name := range want {
		if !slices.Contains(got, name) {
			problems = append(problems, fmt.Errorf("%s is missing", name))
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			problems = append(problems, fmt.Errorf("%s must not be there", name))
		}
	}
	return errors.Join(problems...)
}

// uploadsSourceManifest reports whether the folder has no manifest. Goreleaser does not copy the manifest:
// it uploads the one in the source tree under another name.
func (r *Release) uploadsSourceManifest() bool {
	_, err := os.Stat(r.Manifest())
	return errors.Is(err, os.ErrNotExist)
}

// manifestPath returns the path of the file that is uploaded as the manifest.
func (r *Release) manifestPath() string {
	if r.uploadsSourceManifest() {
		return r.sourceManifest()
	}
	return r.Manifest()
}

func (r *Release) checkManifest() error {
	content, err := os.ReadFile(r.manifestPath())
	if err != nil {
		return err
	}
	var manifest struct {
		Version  int `json:"version"`
		Metadata struct {
			ProtocolVersions []string `json:"protocol_versions"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(content, &manifest); err != nil {
		return err
	}
	if manifest.Version != 1 || !slices.Equal(manifest.Metadata.ProtocolVersions, []string{"6.0"}) {
		return fmt.Errorf("not a manifest of version 1 for protocol 6.0: %s", content)
	}
	return nil
}

// checkSums compares the sums with those of the files that a registry serves.
func (r *Release) checkSums() error {
	var want []string
	for _, path := range r.filesWithSum() {
		name := filepath.Base(path)
		if path == r.Manifest() {
			path = r.manifestPath()
		}
		sum, err := fileSum(path)
		if err != nil {
			return err
		}
		want = append(want, sum+"  "+name)
	}
	content, err := os.ReadFile(r.Sums())
	if err != nil {
		return err
	}
	got := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("the sums are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return nil
}

// checkSignature refuses an armored signature. Registries require the binary form, in which the first bit
// of a packet is set. The function does not verify the signature.
func checkSignature(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(content) == 0 || content[0]&0x80 == 0 {
		return errors.New("not a signature in binary form")
	}
	return nil
}
