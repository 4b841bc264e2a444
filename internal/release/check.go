package release

import (
	"archive/zip"
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// maxSize is how large the program for linux_amd64 may be, in bytes.
const maxSize = 20_000_000

// notShipped lists modules that only tests and tools need.
var notShipped = []string{
	"github.com/ProtonMail/go-crypto",
	"github.com/google/go-cmp",
	"github.com/hashicorp/hc-install",
	"github.com/hashicorp/terraform-exec",
	"github.com/hashicorp/terraform-json",
	"github.com/hashicorp/terraform-plugin-sdk/v2",
	"github.com/hashicorp/terraform-plugin-testing",
	"pgregory.net/rapid",
}

// semver is the form of a version that registries take.
var semver = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// Check returns everything that a registry or a CLI would not take. What is to be published also needs a
// signature and a bill of materials for each archive; a trial has neither.
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

// checkNames compares the names of all files with those that there have to be. Folders and metadata that
// goreleaser leaves are not published.
func (r *Release) checkNames(published bool) error {
	want := []string{filepath.Base(r.Sums())}
	for _, path := range r.served() {
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
			problems = append(problems, fmt.Errorf("%s should not be there", name))
		}
	}
	return errors.Join(problems...)
}

// uploadsSourceManifest reports whether the manifest is only renamed when it is uploaded, as goreleaser
// does it.
func (r *Release) uploadsSourceManifest() bool {
	_, err := os.Stat(r.Manifest())
	return errors.Is(err, os.ErrNotExist)
}

// manifestPath is where the content of the manifest is.
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
		return fmt.Errorf("it should be a manifest of version 1 for protocol 6.0: %s", content)
	}
	return nil
}

// checkSums holds the sums to exactly the files that a registry serves.
func (r *Release) checkSums() error {
	var want []string
	for _, path := range r.served() {
		name := filepath.Base(path)
		if path == r.Manifest() {
			path = r.manifestPath()
		}
		sum, err := sumOf(path)
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
		return fmt.Errorf("the sums are\n%s\nand should be\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return nil
}

// checkZip looks at an archive and at the program in it.
func (r *Release) checkZip(ctx context.Context, p Platform) error {
	licences, err := r.licences()
	if err != nil {
		return err
	}
	want := []string{r.program(p)}
	for _, licence := range licences {
		want = append(want, filepath.Base(licence))
	}

	archive, err := zip.OpenReader(r.Zip(p))
	if err != nil {
		return err
	}
	defer archive.Close()
	var got []string
	for _, file := range archive.File {
		got = append(got, file.Name)
		if !file.Modified.Equal(r.commit) {
			return fmt.Errorf("%s is of %s, the commit of %s", file.Name, file.Modified.UTC(), r.commit)
		}
		if file.Name != r.program(p) {
			continue
		}
		if file.Mode() != 0o755 {
			return fmt.Errorf("%s has mode %s", file.Name, file.Mode())
		}
		if err := r.checkProgram(ctx, p, file); err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("it holds %q and should hold %q", got, want)
	}
	return nil
}

// checkProgram looks at what the linker wrote down; what can run here has to know its version too.
func (r *Release) checkProgram(ctx context.Context, p Platform, file *zip.File) error {
	if p == (Platform{"linux", "amd64"}) && file.UncompressedSize64 >= maxSize {
		return fmt.Errorf("%d bytes are too many", file.UncompressedSize64)
	}
	content, err := unpack(file)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return err
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	for key, want := range map[string]string{"GOOS": p.OS, "GOARCH": p.Arch, "CGO_ENABLED": "0", "-trimpath": "true", "vcs": ""} {
		if settings[key] != want {
			return fmt.Errorf("it was built with %s=%q instead of %q", key, settings[key], want)
		}
	}
	for _, module := range info.Deps {
		if slices.Contains(notShipped, module.Path) {
			return fmt.Errorf("it contains %s, which only tests and tools need", module.Path)
		}
	}
	if p == Host() {
		return r.checkVersion(ctx, content)
	}
	return nil
}

// Host is the platform that this runs on.
func Host() Platform { return Platform{runtime.GOOS, runtime.GOARCH} }

func (r *Release) checkVersion(ctx context.Context, program []byte) error {
	temp, err := os.MkdirTemp("", "stream-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	path := filepath.Join(temp, r.program(Host()))
	if err := os.WriteFile(path, program, 0o755); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, path, "-version").Output()
	if err != nil {
		return err
	}
	if said := strings.TrimSpace(string(out)); said != r.Version {
		return fmt.Errorf("it says that it is version %s", said)
	}
	return nil
}

// checkSignature refuses an armored signature: registries want the binary form, in which the first bit of
// a packet is set. Whether it is the right one, gpg says.
func checkSignature(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(content) == 0 || content[0]&0x80 == 0 {
		return errors.New("it is not a signature in binary form")
	}
	return nil
}

// Same returns an error unless the archives of both releases hold the same files, byte by byte.
func (r *Release) Same(other *Release) error {
	var problems []error
	for _, p := range r.Platforms {
		mine, err := contents(r.Zip(p))
		problems = append(problems, err)
		theirs, err := contents(other.Zip(p))
		problems = append(problems, err)
		if mine != theirs {
			problems = append(problems, fmt.Errorf("%s: two builds of one commit differ:\n%s\n%s", p, mine, theirs))
		}
	}
	return errors.Join(problems...)
}

// contents describes the files in an archive. How they are compressed is not part of it.
func contents(path string) (string, error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return "", err
	}
	defer archive.Close()
	var lines []string
	for _, file := range archive.File {
		content, err := unpack(file)
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s", file.Name, file.Mode(), file.Modified.UTC(), sum(content)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), nil
}

func unpack(file *zip.File) ([]byte, error) {
	reader, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return io.ReadAll(reader)
}
