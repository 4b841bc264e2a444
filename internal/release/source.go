package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// CheckSource returns an error that lists the reasons not to publish the last commit of the repository in
// root as the release with the given tag. Repository is its name on GitHub, such as "owner/name".
func CheckSource(ctx context.Context, root, repository, tag string) error {
	return errors.Join(
		checkLicence(root),
		checkModule(root, repository),
		checkCommit(ctx, root, tag),
		checkChangelog(root, tag),
	)
}

func checkLicence(root string) error {
	found, err := licences(root)
	if err == nil && len(found) == 0 {
		err = errors.New("there is no licence")
	}
	return err
}

func checkModule(root, repository string) error {
	content, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	if !slices.Contains(strings.Fields(string(content)), "github.com/"+repository) {
		return fmt.Errorf("go.mod does not have the module github.com/%s", repository)
	}
	return nil
}

// checkCommit refuses a tag that is not on the last commit, and a commit that is not on the main branch.
func checkCommit(ctx context.Context, root, tag string) error {
	if !semver.MatchString(strings.TrimPrefix(tag, "v")) || !strings.HasPrefix(tag, "v") {
		return fmt.Errorf("the tag %q is not a semantic version with a leading v", tag)
	}
	tags, err := git(ctx, root, "tag", "--points-at", "HEAD")
	if err != nil {
		return err
	}
	if !slices.Contains(strings.Fields(tags), tag) {
		return fmt.Errorf("the tag %s is not on the last commit", tag)
	}
	if _, err := git(ctx, root, "merge-base", "--is-ancestor", "HEAD", "origin/main"); err != nil {
		return fmt.Errorf("the tag %s is not on main: %w", tag, err)
	}
	return nil
}

func checkChangelog(root, tag string) error {
	_, err := Notes(root, tag)
	return err
}

// changelogHeading matches the heading of a version, such as "## 1.2.3 (2026-01-31)".
var changelogHeading = regexp.MustCompile(`(?m)^## (\S+)(.*)\n`)

var headingDate = regexp.MustCompile(`^ \(\d{4}-\d{2}-\d{2}\)$`)

// Notes returns the section of CHANGELOG.md for a tag, without its heading. A candidate such as v1.2.0-rc.1
// has the section of the version that it is for, which needs no date yet. The error says that the section is
// missing, has no date or is empty.
func Notes(root, tag string) (string, error) {
	content, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	text := strings.ReplaceAll(string(content), "\r\n", "\n")
	version, _, candidate := strings.Cut(strings.TrimPrefix(tag, "v"), "-")
	for _, found := range changelogHeading.FindAllStringSubmatchIndex(text, -1) {
		if text[found[2]:found[3]] != version {
			continue
		}
		if !candidate && !headingDate.MatchString(text[found[4]:found[5]]) {
			return "", fmt.Errorf("the section for %s in CHANGELOG.md has no date such as (2026-01-31)", version)
		}
		section, _, _ := strings.Cut(text[found[1]:], "\n## ")
		if strings.TrimSpace(section) == "" {
			return "", fmt.Errorf("the section for %s in CHANGELOG.md is empty", version)
		}
		return strings.TrimSpace(section) + "\n", nil
	}
	return "", fmt.Errorf("CHANGELOG.md has no section for %s", version)
}
