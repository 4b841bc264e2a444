package release

import (
	"archive/zip"
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// maxProgramSize is the limit for the program for linux_amd64, in bytes.
const maxProgramSize = 20_000_000

// testOnlyModules must not be part of the provider.
var testOnlyModules = []string{
	"github.com/ProtonMail/go-crypto",
	"github.com/google/go-cmp",
	"github.com/hashicorp/hc-install",
	"github.com/hashicorp/terraform-exec",
	"github.com/hashicorp/terraform-json",
	"github.com/hashicorp/terraform-plugin-sdk/v2",
	"github.com/hashicorp/terraform-plugin-testing",
	"pgregory.net/rapid",
}

// checkZip checks an archive and the program in it.
func (r *Release) checkZip(ctx context.Context, p Platform) error {
	licences, err := r.licences()
	if err != nil {
		return err
	}
	want := []string{r.programName(p)}
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
		if !file.Modified.Equal(r.commitTime) {
			return fmt.Errorf("%s has the time %s, the commit has %s", file.Name, file.Modified.UTC(), r.commitTime)
		}
		if file.Name != r.programName(p) {
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
		return fmt.Errorf("it contains %q, want %q", got, want)
	}
	return nil
}

// checkProgram checks the size of a program and its build information. It also runs a program that is for
// this platform, and checks the version that the program prints.
func (r *Release) checkProgram(ctx context.Context, p Platform, file *zip.File) error {
	if p == (Platform{"linux", "amd64"}) && file.UncompressedSize64 >= maxProgramSize {
		return fmt.Errorf("the size is %d bytes, the limit %d", file.UncompressedSize64, maxProgramSize)
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
			return fmt.Errorf("it was built with %s=%q, want %q", key, settings[key], want)
		}
	}
	for _, module := range info.Deps {
		if slices.Contains(testOnlyModules, module.Path) {
			return fmt.Errorf("it contains %s, which only tests and tools need", module.Path)
		}
	}
	if p == Host() {
		return r.checkVersion(ctx, content)
	}
	return nil
}

// Host returns the platform of this machine.
func Host() Platform { return Platform{runtime.GOOS, runtime.GOARCH} }

func (r *Release) checkVersion(ctx context.Context, program []byte) error {
	temp, err := os.MkdirTemp("", "stream-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	path := filepath.Join(temp, r.programName(Host()))
	if err := os.WriteFile(path, program, 0o755); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, path, "-version").Output()
	if err != nil {
		return err
	}
	if printed := strings.TrimSpace(string(out)); printed != r.Version {
		return fmt.Errorf("it prints version %s, want %s", printed, r.Version)
	}
	return nil
}

// CheckSameContents returns an error unless the archives of both releases contain the same files, byte by
// byte.
func (r *Release) CheckSameContents(other *Release) error {
	var problems []error
	for _, p := range r.Platforms {
		one, err := describeContents(r.Zip(p))
		problems = append(problems, err)
		two, err := describeContents(other.Zip(p))
		problems = append(problems, err)
		if one != two {
			problems = append(problems, fmt.Errorf("%s: the releases differ:\n%s\n%s", p, one, two))
		}
	}
	return errors.Join(problems...)
}

// describeContents returns one line for each file in an archive. The lines do not depend on the compression.
func describeContents(path string) (string, error) {
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
