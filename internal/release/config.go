// Package release builds the files of a release without goreleaser, and checks the files of any release
// against the requirements of registries. Both read .goreleaser.yml, the configuration of the releases that
// are published.
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

// Platform is an operating system and an architecture.
type Platform struct {
	OS   string // as in GOOS
	Arch string // as in GOARCH
}

// String returns the platform in the form that file names have, such as linux_amd64.
func (p Platform) String() string { return p.OS + "_" + p.Arch }

// config has the values of .goreleaser.yml by their full keys, such as "builds.goos".
type config map[string]any

// readConfig reads .goreleaser.yml in the given folder. It supports a part of YAML: maps and lists of maps
// by indentation, with values that are plain or JSON on one line. Anything else is an error.
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
	var parents []level
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
		parents = slices.DeleteFunc(parents, func(l level) bool { return l.indent >= indent })
		if len(parents) > 0 {
			key = parents[len(parents)-1].key + "." + key
		}
		parents = append(parents, level{indent, key})
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		var decoded any = value
		if strings.ContainsAny(value[:1], `[{"`) {
			if err := json.Unmarshal([]byte(value), &decoded); err != nil {
				return nil, fmt.Errorf("%s:%d: not JSON: %w", path, i+1, err)
			}
		}
		if _, exists := values[key]; exists {
			return nil, fmt.Errorf("%s:%d: duplicate key %s", path, i+1, key)
		}
		values[key] = decoded
	}
	return values, nil
}

// list returns the elements of a list as strings, or nil if the key has no list.
func (c config) list(key string) []string {
	var elements []string
	all, _ := c[key].([]any)
	for _, one := range all {
		elements = append(elements, fmt.Sprint(one))
	}
	return elements
}

// platforms returns the platforms that releases are built for.
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

// fillTemplate executes the template that is the value of a key.
func (c config) fillTemplate(key, version string, platform Platform) (string, error) {
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
