package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// GitHub has the releases of one repository.
type GitHub struct {
	API        string // such as https://api.github.com, without a slash at the end
	Repository string // such as owner/name
	Token      string
}

// githubRelease is a release as GitHub's REST API represents it.
type githubRelease struct {
	ID         int64  `json:"id"`
	TagName    string `json:"tag_name"`
	Body       string `json:"body"`
	Draft      bool   `json:"draft"`
	Prerelease bool   `json:"prerelease"`
	Assets     []struct {
		Name   string `json:"name"`
		State  string `json:"state"`
		Size   int64  `json:"size"`
		Digest string `json:"digest"` // "sha256:" and the sum
	} `json:"assets"`
}

// CheckUnpublished returns an error if the tag has a public release, which must never change. Drafts that an
// earlier run has left are no problem, because goreleaser replaces a draft.
func (g *GitHub) CheckUnpublished(ctx context.Context, tag string) error {
	releases, err := g.releases(ctx, tag)
	if err != nil {
		return err
	}
	for _, one := range releases {
		if !one.Draft {
			return fmt.Errorf("%s is public already (release %d): publish a new version instead", tag, one.ID)
		}
	}
	return nil
}

// Publish makes the draft of a release public. It changes nothing and returns an error unless the tag has
// exactly one release, a draft with a text and with exactly the files of this release.
func (g *GitHub) Publish(ctx context.Context, r *Release) error {
	tag := "v" + r.Version
	releases, err := g.releases(ctx, tag)
	if err != nil {
		return err
	}
	if len(releases) != 1 || !releases[0].Draft {
		return fmt.Errorf("%s has %s, want one draft", tag, describe(releases))
	}
	draft := releases[0]
	if err := r.checkDraft(draft); err != nil {
		return fmt.Errorf("the draft %d: %w", draft.ID, err)
	}
	var published githubRelease
	path := fmt.Sprintf("/releases/%d", draft.ID)
	if err := g.do(ctx, http.MethodPatch, path, map[string]bool{"draft": false}, &published); err != nil {
		return err
	}
	if published.Draft || published.TagName != tag {
		return fmt.Errorf("the release %d has tag %q and draft = %t after it was made public", published.ID, published.TagName, published.Draft)
	}
	return nil
}

// releases returns the drafts and public releases of a tag.
func (g *GitHub) releases(ctx context.Context, tag string) ([]githubRelease, error) {
	const perPage = 100
	var found []githubRelease
	for page := 1; ; page++ {
		var releases []githubRelease
		if err := g.do(ctx, http.MethodGet, fmt.Sprintf("/releases?per_page=%d&page=%d", perPage, page), nil, &releases); err != nil {
			return nil, err
		}
		for _, one := range releases {
			if one.TagName == tag {
				found = append(found, one)
			}
		}
		if len(releases) < perPage {
			return found, nil
		}
	}
}

// do sends one request and decodes the response.
func (g *GitHub) do(ctx context.Context, method, path string, body, response any) error {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(encoded)
	}
	url := g.API + "/repos/" + g.Repository + path
	request, err := http.NewRequestWithContext(ctx, method, url, content)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/vnd.github+json")
	request.Header.Set("Authorization", "Bearer "+g.Token)
	request.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	client := http.Client{Timeout: time.Minute}
	result, err := client.Do(request)
	if err != nil {
		return err
	}
	defer result.Body.Close()
	text, err := io.ReadAll(result.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, url, err)
	}
	if result.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", method, url, result.Status, text)
	}
	return json.Unmarshal(text, response)
}

func describe(releases []githubRelease) string {
	if len(releases) == 0 {
		return "no release"
	}
	var all []string
	for _, one := range releases {
		kind := "public release"
		if one.Draft {
			kind = "draft"
		}
		all = append(all, fmt.Sprintf("%s %d", kind, one.ID))
	}
	return strings.Join(all, ", ")
}

// checkDraft compares the draft with the files of the release.
func (r *Release) checkDraft(draft githubRelease) error {
	var problems []error
	if strings.TrimSpace(draft.Body) == "" {
		problems = append(problems, errors.New("it has no text"))
	}
	if candidate := strings.Contains(r.Version, "-"); draft.Prerelease != candidate {
		problems = append(problems, fmt.Errorf("prerelease = %t, want %t", draft.Prerelease, candidate))
	}
	missing := map[string]string{}
	for _, path := range r.files(true) {
		missing[filepath.Base(path)] = r.source(path)
	}
	for _, asset := range draft.Assets {
		path, ok := missing[asset.Name]
		if !ok {
			problems = append(problems, fmt.Errorf("%s must not be there, or is there twice", asset.Name))
			continue
		}
		delete(missing, asset.Name)
		content, err := os.ReadFile(path)
		switch {
		case err != nil:
			problems = append(problems, err)
		case asset.State != "uploaded" || asset.Size != int64(len(content)):
			problems = append(problems, fmt.Errorf("%s is not complete", asset.Name))
		case asset.Digest != "" && asset.Digest != "sha256:"+sum(content): // old servers send no digest
			problems = append(problems, fmt.Errorf("%s is not the file that was checked", asset.Name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		problems = append(problems, fmt.Errorf("%s is missing", name))
	}
	return errors.Join(problems...)
}
