package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
)

// semver is the form of a version that registries accept.
var semver = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// Check returns an error that lists everything that a registry or a CLI would refuse. A release that is to be
// published also needs a signature by the armored public key, and a bill of materials for each archive. A
// trial release has neither, and its key is empty.
func (r *Release) Check(ctx context.Context, key string) error {
	published := key != ""
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
		report(r.Signature(), r.checkSignature(key))
	}
	return errors.Join(problems...)
}

// checkNames compares the names of all files with the required names. It ignores the folders and metadata
// that goreleaser leaves, because they are not published.
func (r *Release) checkNames(published bool) error {
	missing := map[string]bool{}
	for _, path := range r.files(published) {
		if r.source(path) == path {
			missing[filepath.Base(path)] = true
		}
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	var problems []error
	for _, entry := range entries {
		name := entry.Name()
		if entry.Type().IsRegular() && strings.HasPrefix(name, project) && !missing[name] {
			problems = append(problems, fmt.Errorf("%s must not be there", name))
		}
		delete(missing, name)
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		problems = append(problems, fmt.Errorf("%s is missing", name))
	}
	return errors.Join(problems...)
}

func (r *Release) checkManifest() error {
	content, err := os.ReadFile(r.source(r.Manifest()))
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
		sum, err := fileSum(r.source(path))
		if err != nil {
			return err
		}
		want = append(want, sum+"  "+filepath.Base(path))
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

// checkSignature verifies the signature of the sums. It refuses an armored signature: registries require the
// binary form, in which the first bit of a packet is set.
func (r *Release) checkSignature(key string) error {
	signature, err := os.ReadFile(r.Signature())
	if err != nil {
		return err
	}
	if len(signature) == 0 || signature[0]&0x80 == 0 {
		return errors.New("not a signature in binary form")
	}
	keys, err := openpgp.ReadArmoredKeyRing(strings.NewReader(key))
	if err != nil {
		return fmt.Errorf("reading the public key: %w", err)
	}
	sums, err := os.ReadFile(r.Sums())
	if err != nil {
		return err
	}
	_, err = openpgp.CheckDetachedSignature(keys, bytes.NewReader(sums), bytes.NewReader(signature), nil)
	return err
}

func fileSum(path string) (string, error) {
	content, err := os.ReadFile(path)
	return sum(content), err
}

func sum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }
