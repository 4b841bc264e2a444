package release

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// noticesName is the name of the file with the licences of the modules in a program.
const noticesName = "NOTICES"

// noticeFile matches the names of the files that licences require beside a program.
var noticeFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)s?([.-].*)?$`)

// licenceFile matches those that grant a licence.
var licenceFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying)s?([.-].*)?$`)

// noticeRule separates the modules in the notices. No licence contains the line.
const noticeRule = "\n================================================================================\n"

// WriteNotices writes the notices for a program to a file. Root is the folder of the module that the program
// was built from. The error names a module that has no licence file or is not in the module cache.
func WriteNotices(ctx context.Context, root, program, path string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	dirs, err := moduleDirs(ctx, root, info)
	if err != nil {
		return err
	}
	content, err := notices(info, dirs)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

// moduleDirs returns the folder of the Go standard library, and of each module in a program, by the heading
// of its notices.
func moduleDirs(ctx context.Context, root string, info *debug.BuildInfo) (map[string]string, error) {
	list := exec.CommandContext(ctx, "go", "mod", "download", "-json")
	for _, module := range info.Deps {
		if module.Replace != nil {
			return nil, fmt.Errorf("the program has a replacement of %s", module.Path)
		}
		list.Args = append(list.Args, module.Path+"@"+module.Version)
	}
	list.Dir = root
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("finding the modules of the program: %w", err)
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{"Go " + info.GoVersion: strings.TrimSpace(string(goroot))}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var module struct{ Path, Version, Dir string }
		if err := decoder.Decode(&module); err != nil {
			return nil, err
		}
		dirs[module.Path+" "+module.Version] = module.Dir
	}
	return dirs, nil
}

// notices returns the texts of all modules in a program, in the order of their headings.
func notices(info *debug.BuildInfo, dirs map[string]string) ([]byte, error) {
	var content strings.Builder
	content.WriteString("This program contains the software below. Each section has the licence and the notices of one module.\n")
	for _, heading := range noticeHeadings(info) {
		texts, err := noticeTexts(heading, dirs[heading])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", heading, err)
		}
		fmt.Fprintf(&content, "%s%s\n\n%s", noticeRule, heading, strings.Join(texts, "\n\n"))
	}
	return []byte(content.String()), nil
}

func noticeHeadings(info *debug.BuildInfo) []string {
	headings := []string{"Go " + info.GoVersion}
	for _, module := range info.Deps {
		headings = append(headings, module.Path+" "+module.Version)
	}
	return headings
}

// noticeTexts returns the different licences and notices in the folder of a module, also those of code from
// elsewhere in its subfolders. The Go distribution has tools and tests in its subfolders, so only its own count.
func noticeTexts(heading, dir string) ([]string, error) {
	var texts []string
	licensed := false
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != dir && (entry.Name() == "testdata" || strings.HasPrefix(heading, "Go ")) {
				return fs.SkipDir
			}
			return nil
		case !noticeFile.MatchString(entry.Name()), filepath.Ext(path) == ".go":
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := strings.TrimSpace(strings.ReplaceAll(string(content), "\r\n", "\n"))
		if licenceFile.MatchString(entry.Name()) && filepath.Dir(path) == dir && text != "" {
			licensed = true
		}
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		return nil
	})
	if err == nil && !licensed {
		err = errors.New("the module has no licence file")
	}
	return texts, err
}

// checkNotices returns an error unless the notices have one section with a text for each module in the
// program, and no other section.
func checkNotices(content []byte, info *debug.BuildInfo) error {
	missing := noticeHeadings(info)
	var problems []error
	for _, section := range strings.Split(string(content), noticeRule)[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		if i := slices.Index(missing, heading); i < 0 {
			problems = append(problems, fmt.Errorf("a section for %s, which the program does not contain", heading))
		} else {
			missing = slices.Delete(missing, i, i+1)
		}
		if strings.TrimSpace(text) == "" {
			problems = append(problems, fmt.Errorf("the section for %s is empty", heading))
		}
	}
	for _, heading := range missing {
		problems = append(problems, fmt.Errorf("no section for %s", heading))
	}
	return errors.Join(problems...)
}
