// Command notices prints the licences and notices of Go and of all modules in the provider's programs, for the file
// NOTICES in each archive of a release.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

const program = "github.com/stream-management/terraform-provider-stream"

// platforms are the operating systems of a release. The modules in a program depend on its operating system.
var platforms = []string{"darwin", "freebsd", "linux", "windows"}

var (
	// noticeFile matches the names of the files that licences require beside a program.
	noticeFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)s?([.-].*)?$`)

	// licenceFile matches those that grant a licence.
	licenceFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying)s?([.-].*)?$`)
)

func main() {
	log.SetFlags(0)
	modules, err := modules(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("This program contains the software below. Each section has the licence and the notices of one module.")
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		texts, err := notices(modules[module], module == runtime.Version())
		if err != nil {
			log.Fatalf("%s: %v", module, err)
		}
		fmt.Printf("\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), module, strings.Join(texts, "\n\n"))
	}
}

// modules returns the folder of the Go distribution, and of each module in the provider's programs, by its name and
// version.
func modules(ctx context.Context) (map[string]string, error) {
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	found := map[string]string{runtime.Version(): strings.TrimSpace(string(goroot))}
	for _, platform := range platforms {
		list := exec.CommandContext(ctx, "go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", program)
		list.Env = append(os.Environ(), "GOOS="+platform, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("listing the modules for %s: %w", platform, err)
		}
		for line := range strings.Lines(string(out)) {
			module, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
			found[module] = dir
		}
	}
	return found, nil
}

// notices returns the different licences and notices in a folder, also those of code from elsewhere in its subfolders
// unless onlyTop is set. The Go distribution has tools and tests in its subfolders.
func notices(dir string, onlyTop bool) ([]string, error) {
	var texts []string
	licensed := false
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != dir && (onlyTop || entry.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		case !noticeFile.MatchString(entry.Name()), filepath.Ext(path) == ".go":
			return nil
		}
		content, err := os.ReadFile(path)
		text := strings.TrimSpace(strings.ReplaceAll(string(content), "\r\n", "\n"))
		if text == "" || err != nil {
			return err
		}
		licensed = licensed || filepath.Dir(path) == dir && licenceFile.MatchString(entry.Name())
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		return nil
	})
	if err == nil && !licensed {
		err = errors.New("no licence file")
	}
	return texts, err
}
