package release

import (
	"archive/zip"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
)

// TestAccMirror copies an archive with the layout of .goreleaser.yml into a filesystem mirror, as the guide on
// installing says, installs, and installs again with the lock file. RELEASE_DIST names a folder with archives that
// goreleaser has built; "make snapshot" sets it.
func TestAccMirror(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	archive := archiveOfRelease(t)
	name := regexp.MustCompile(`^terraform-provider-stream_(.+)_` + runtime.GOOS + "_" + runtime.GOARCH + `\.zip$`).FindStringSubmatch(filepath.Base(archive))
	if name == nil {
		t.Fatalf("the archive has the name %s", filepath.Base(archive))
	}
	if err := os.RemoveAll(w.sandbox.Mirror); err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		folder := filepath.FromSlash(strings.ToLower(cli.Source))
		write(t, filepath.Join(w.sandbox.Mirror, host, folder, filepath.Base(archive)), read(t, archive))
	}
	write(t, w.path("source.tf"), fmt.Sprintf("terraform {\n  required_providers {\n    stream = {\n      source = %q\n      version = %q\n    }\n  }\n}\n", cli.Source, name[1]))
	write(t, w.path("main.tf"), "resource \"stream_processors\" \"camera\" {\n  stream_id     = \"cam-1\"\n  processor_ids = [\"a\"]\n}\n")

	w.run(t, "init")
	if err := os.RemoveAll(w.path(".terraform")); err != nil { // as on another machine
		t.Fatal(err)
	}
	w.run(t, "init", "-lockfile=readonly")
	w.run(t, "apply", "-auto-approve")
	requests := w.service.Requests()
	if len(requests) != 1 || !strings.HasPrefix(requests[0].Header.Get("User-Agent"), "terraform-provider-stream/"+name[1]) {
		t.Errorf("the service received %v, want one update from version %s", requests, name[1])
	}
}

// archiveOfRelease returns the path of the archive for this platform.
func archiveOfRelease(t *testing.T) string {
	t.Helper()
	if dist := os.Getenv("RELEASE_DIST"); dist != "" {
		archives, err := filepath.Glob(filepath.Join(root, dist, "*_"+runtime.GOOS+"_"+runtime.GOARCH+".zip"))
		if err != nil || len(archives) != 1 {
			t.Fatalf("%s has the archives %v, want one for this platform: %v", dist, archives, err)
		}
		return archives[0]
	}
	_, program := cli.ForTest(t)
	path := filepath.Join(t.TempDir(), fmt.Sprintf("terraform-provider-stream_%s_%s_%s.zip", cli.Version, runtime.GOOS, runtime.GOARCH))
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	archive := zip.NewWriter(file)
	if err := archive.AddFS(os.DirFS(filepath.Dir(program))); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAccNotices checks that the notices of a release have a section with a licence for Go and for each module in the
// program.
func TestAccNotices(t *testing.T) {
	t.Parallel()
	_, program := cli.ForTest(t)
	info, err := buildinfo.ReadFile(program)
	if err != nil || len(info.Deps) == 0 {
		t.Fatalf("the program has %d modules: %v", len(info.Deps), err)
	}
	notices, err := shell(t.Context(), root, []string{"GOFLAGS=-mod=readonly", "GOPROXY=off"}, "go", "run", "./internal/cmd/notices")
	if err != nil {
		t.Fatalf("%v\n%s", err, notices)
	}
	sections := map[string]bool{}
	for _, section := range strings.Split(notices, strings.Repeat("=", 80)+"\n")[1:] {
		module, text, _ := strings.Cut(section, "\n")
		sections[module] = regexp.MustCompile(`(?i)copyright|licen[sc]e`).MatchString(text)
	}
	want := []string{info.GoVersion}
	for _, module := range info.Deps {
		want = append(want, module.Path+" "+module.Version)
	}
	for _, module := range want {
		if !sections[module] {
			t.Errorf("the notices lack %s", module)
		}
	}
}
