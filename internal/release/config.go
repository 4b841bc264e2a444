// Package release makes the files of a release by itself, and checks them against what registries ask
// for. Both read .goreleaser.yml, which says how the published ones are made.
package release

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// Platform is what a file of a release is for.
type Platform struct {
	OS   string // as in GOOS
	Arch string // as in GOARCH
}

// String returns the platform as file names have it: linux_amd64.
func (p Platform) String() string { return p.OS + "_" + p.Arch }

// config holds the values of .goreleaser.yml by their keys: "builds.goos".
type config map[string]any

// readConfig reads .goreleaser.yml in the given folder. It understands a part of YAML, and refuses the
// rest: maps and lists of maps by indentation, whose values are plain or JSON on one line.
func readConfig(root string) (config, error) {
	path := filepath.Join(root, ".goreleaser.yml")
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	type level struct {
		indent int
		key    string
	}
	var at []level
	values := config{}
	for i, line := range strings.Split(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n") {
		text := strings.TrimLeft(line, " -")
		if text == "" || text[0] == '#' {
			continue
		}
		indent := len(line) - len(text)
		key, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("%s:%d: neither a key nor a comment", path, i+1)
		}
		at = slices.DeleteFunc(at, func(l level) bool { return l.indent >= indent })
		if len(at) > 0 {
			key = at[len(at)-1].key + "." + key
		}
		at = append(at, level{indent, key})
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		var decoded any = value
		if strings.ContainsAny(value[:1], `[{"`) {
			if err := json.Unmarshal([]byte(value), &decoded); err != nil {
				return nil, fmt.Errorf("%s:%d: not JSON: %w", path, i+1, err)
			}
		}
		if _, twice := values[key]; twice {
			return nil, fmt.Errorf("%s:%d: %s is there twice", path, i+1, key)
		}
		values[key] = decoded
	}
	return values, nil
}

// list returns a list of texts, or none.
func (c config) list(key string) []string {
	var texts []string
	all, _ := c[key].([]any)
	for _, one := range all {
		texts = append(texts, fmt.Sprint(one))
	}
	return texts
}

// platforms returns what there is a build for.
func (c config) platforms() []Platform {
	var all []Platform
	ignored, _ := c["builds.ignore"].([]any)
	for _, goos := range c.list("builds.goos") {
		for _, goarch := range c.list("builds.goarch") {
			if !slices.ContainsFunc(ignored, func(one any) bool {
				rule, _ := one.(map[string]any)
				return rule["goos"] == goos && rule["goarch"] == goarch
			}) {
				all = append(all, Platform{goos, goarch})
			}
		}
	}
	return all
}

// fill fills in the template that a key holds.
func (c config) fill(key, version string, platform Platform) (string, error) {
	text, _ := c[key].(string)
	parsed, err := template.New(key).Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var filled strings.Builder
	err = parsed.Execute(&filled, map[string]any{
		"ProjectName": c["project_name"],
		"Version":     version,
		"Os":          platform.OS,
		"Arch":        platform.Arch,
	})
	if err == nil && filled.Len() == 0 {
		err = fmt.Errorf("%s is empty", key)
	}
	return filled.String(), err
}
