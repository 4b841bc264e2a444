package release

import (
	"archive/zip"
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
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
	own, err := licences(r.root)
	if err != nil {
		return err
	}
	want := []string{r.programName(p), noticesName}
	for _, licence := range own {
		want = append(want, filepath.Base(licence))
	}

	archive, err := zip.OpenReader(r.Zip(p))
	if err != nil {
		return err
	}
	defer archive.Close()
	var got []string
	var notices, program []byte
	for _, file := range archive.File {
		got = append(got, file.Name)
		if !file.Modified.Equal(r.commitTime) {
			return fmt.Errorf("%s has the time %s, the commit has %s", file.Name, file.Modified.UTC(), r.commitTime)
		}
		switch file.Name {
		case noticesName:
			notices, err = unpack(file)
		case r.programName(p):
			if file.Mode() != 0o755 {
				return fmt.Errorf("%s has mode %s", file.Name, file.Mode())
			}
			program, err = unpack(file)
		}
		if err != nil {
			return err
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("it contains %q, want %q", got, want)
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return fmt.Errorf("%s: %w", r.programName(p), err)
	}
	if err := r.checkProgram(ctx, p, program, info); err != nil {
		return fmt.Errorf("%s: %w", r.programName(p), err)
	}
	if err := checkNotices(notices, info); err != nil {
		return fmt.Errorf("%s: %w", noticesName, err)
	}
	return nil
}

// checkProgram checks the build information of a program and its size. It also runs a program that is for
// this platform, and checks the version that the program prints.
func (r *Release) checkProgram(ctx context.Context, p Platform, content []byte, info *debug.BuildInfo) error {
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
	if p == (Platform{"linux", "amd64"}) && len(content) >= maxProgramSize {
		return fmt.Errorf("the size is %d bytes, the limit %d", len(content), maxProgramSize)
	}
	if p == Host() {
		return r.checkVersion(ctx, content)
	}
	return nil
}

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

func unpack(file *zip.File) ([]byte, error) {
	reader, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return io.ReadAll(reader)
}
