package release

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// root is the folder of the module.
var root = filepath.Join("..", "..")

func TestPlatforms(t *testing.T) {
	t.Parallel()
	r, err := New(t.Context(), root, t.TempDir(), "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range r.Platforms {
		names = append(names, filepath.Base(r.Zip(p)))
	}
	var want []string
	for _, platform := range []string{
		"linux_amd64", "linux_arm64", "linux_386", "linux_arm",
		"darwin_amd64", "darwin_arm64",
		"windows_amd64", "windows_arm64", "windows_386",
		"freebsd_amd64", "freebsd_arm64", "freebsd_386", "freebsd_arm",
	} {
		want = append(want, "terraform-provider-stream_1.2.3_"+platform+".zip")
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("archives (-want +got):\n%s", diff)
	}
	if got := r.program(Platform{"windows", "386"}); got != "terraform-provider-stream_v1.2.3.exe" {
		t.Errorf("the program for Windows is %s", got)
	}
}

func TestReadConfigRefuses(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"list of texts": "goos:\n  - linux\n",
		"YAML list":     "goos: [linux]\n",
		"key twice":     "builds:\n  goos: a\n  goos: b\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, ".goreleaser.yml"), []byte(content))
			if values, err := readConfig(dir); err == nil {
				t.Errorf("read as %v", values)
			}
		})
	}
}

// TestAccCheck holds Check to what it is for: it takes a release as it is made, and refuses one in which
// anything is wrong.
func TestAccCheck(t *testing.T) {
	t.Parallel()
	original := built(t, "0.1.0")
	if err := original.Check(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	host := original.Zip(Host())
	for name, test := range map[string]struct {
		published bool
		damage    func(t *testing.T, r *Release)
		want      string
	}{
		"signature missing": {true, func(*testing.T, *Release) {}, "_SHA256SUMS.sig is missing"},
		"armored signature": {true, func(t *testing.T, r *Release) {
			write(t, r.Sums()+".sig", []byte("-----BEGIN PGP SIGNATURE-----"))
		}, "not a signature in binary form"},
		"bill of materials missing": {true, func(*testing.T, *Release) {}, ".zip.sbom.json is missing"},
		"archive missing": {false, func(t *testing.T, r *Release) {
			if err := os.Remove(r.Zip(Host())); err != nil {
				t.Fatal(err)
			}
		}, filepath.Base(host) + " is missing"},
		"another platform": {false, func(t *testing.T, r *Release) {
			write(t, r.Zip(Platform{"darwin", "386"}), []byte("zip"))
		}, "darwin_386.zip should not be there"},
		"archive changed": {false, func(t *testing.T, r *Release) {
			write(t, r.Zip(Host()), append(read(t, r.Zip(Host())), 0))
		}, "the sums are"},
		"sum of something else": {false, func(t *testing.T, r *Release) {
			write(t, r.Sums(), append(read(t, r.Sums()), []byte(strings.Repeat("0", 64)+"  README.md\n")...))
		}, "the sums are"},
		"protocol 5": {false, func(t *testing.T, r *Release) {
			write(t, r.Manifest(), []byte(`{"version": 1, "metadata": {"protocol_versions": ["5.0"]}}`))
		}, "for protocol 6.0"},
		"program of another version": {false, func(t *testing.T, r *Release) {
			repack(t, built(t, "0.1.1").Zip(Host()), r.Zip(Host()), func(string) string { return r.program(Host()) })
		}, "it says that it is version 0.1.1"},
		"program of another name": {false, func(t *testing.T, r *Release) {
			repack(t, host, r.Zip(Host()), func(string) string { return "terraform-provider-stream" })
		}, `it holds ["terraform-provider-stream"]`},
		"program of something else": {false, func(t *testing.T, r *Release) {
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			if err := r.pack(Host(), read(t, program)); err != nil {
				t.Fatal(err)
			}
		}, "it was built with"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := copied(t, original)
			test.damage(t, r)
			err := r.Check(t.Context(), test.published)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
	t.Run("version", func(t *testing.T) {
		t.Parallel()
		r, err := New(t.Context(), root, t.TempDir(), "v0.1")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(t.Context(), false); err == nil || !strings.Contains(err.Error(), "not a semantic version") {
			t.Errorf("got %v", err)
		}
	})
}

// TestAccReproducible builds one commit in two folders. The release check does it for all platforms.
func TestAccReproducible(t *testing.T) {
	t.Parallel()
	needAcc(t)
	var builds []*Release
	for _, place := range []string{"one", "quite/another/place"} {
		clone, dir := filepath.Join(t.TempDir(), filepath.FromSlash(place)), t.TempDir()
		git := exec.CommandContext(t.Context(), "git", "clone", "--quiet", root, clone)
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git clone: %v\n%s", err, out)
		}
		r, err := New(t.Context(), clone, dir, "0.1.0")
		if err != nil {
			t.Fatal(err)
		}
		r.Platforms = []Platform{{"linux", "amd64"}}
		if err := r.Build(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.Check(t.Context(), false); err != nil { // the size of this program, too
			t.Error(err)
		}
		builds = append(builds, r)
	}
	if err := builds[0].Same(builds[1]); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(read(t, builds[0].Sums()), read(t, builds[1].Sums())) {
		t.Error("the archives differ in more than their contents")
	}
	if err := builds[0].Same(built(t, "0.1.1")); err == nil {
		t.Error("two versions are the same")
	}
}

// TestDependencies holds what only tests and tools need out of the provider, and out of its module what
// they could do without.
func TestDependencies(t *testing.T) {
	t.Parallel()
	const module = `{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}`
	linked := goList(t, "-deps", "-f", module, ".")
	if len(linked) == 0 {
		t.Fatal("the provider has no dependencies")
	}
	for _, path := range notShipped {
		if slices.Contains(linked, path) {
			t.Errorf("the provider imports %s", path)
		}
	}
	allowed := slices.Concat(linked,
		goList(t, "-deps", "-f", module, "github.com/hashicorp/terraform-plugin-testing/helper/resource"),
		[]string{"pgregory.net/rapid"}) // histories at random; it has no dependencies of its own
	for _, path := range goList(t, "-m", "-f", `{{if not (or .Main .Indirect)}}{{.Path}}{{end}}`, "all") {
		if !slices.Contains(allowed, path) {
			t.Errorf("go.mod requires %s, which neither the provider nor plugin-testing needs", path)
		}
	}
}

// goList returns the distinct lines that go list writes.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	slices.Sort(lines)
	return slices.Compact(lines)
}

// needAcc skips what builds the provider and runs CLIs.
func needAcc(t *testing.T) {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		t.Skip("acceptance tests run with TF_ACC=1")
	}
}

// built returns a release of this tree for this platform. It is made once and must not be changed.
func built(t *testing.T, version string) *Release {
	t.Helper()
	needAcc(t)
	r, err := builds[version]()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var builds = map[string]func() (*Release, error){
	"0.1.0": sync.OnceValues(func() (*Release, error) { return buildHere("0.1.0") }),
	"0.1.1": sync.OnceValues(func() (*Release, error) { return buildHere("0.1.1") }),
}

var buildDir string

func buildHere(version string) (*Release, error) {
	dir := filepath.Join(buildDir, version)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	ctx := context.Background()
	r, err := New(ctx, root, dir, version)
	if err != nil {
		return nil, err
	}
	r.Platforms = []Platform{Host()}
	return r, r.Build(ctx)
}

func TestMain(m *testing.M) {
	var err error
	if buildDir, err = os.MkdirTemp("", "stream-release-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(buildDir)
	os.Exit(code)
}

// copied returns a release with the same files in a folder that the test may change.
func copied(t *testing.T, r *Release) *Release {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	moved := *r
	moved.dir = dir
	return &moved
}

// repack copies an archive and renames what is in it.
func repack(t *testing.T, from, to string, rename func(string) string) {
	t.Helper()
	archive, err := zip.OpenReader(from)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var packed bytes.Buffer
	writer := zip.NewWriter(&packed)
	for _, file := range archive.File {
		header := file.FileHeader
		header.Name = rename(file.Name)
		entry, err := writer.CreateRaw(&header)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := file.OpenRaw()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(entry, raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, to, packed.Bytes())
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
