package release

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestPublish checks that Publish makes the one right draft public, by its id, and changes nothing otherwise.
func TestPublish(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		version string
		change  func(f *fakeGitHub, draft *fakeRelease)
		want    string // "" if the draft becomes public
	}{
		"right":                {"0.1.0", func(*fakeGitHub, *fakeRelease) {}, ""},
		"candidate":            {"0.1.0-rc.1", func(_ *fakeGitHub, d *fakeRelease) { d.Prerelease = true }, ""},
		"candidate for all":    {"0.1.0-rc.1", func(*fakeGitHub, *fakeRelease) {}, "prerelease = false, want true"},
		"version for few":      {"0.1.0", func(_ *fakeGitHub, d *fakeRelease) { d.Prerelease = true }, "prerelease = true, want false"},
		"draft of another tag": {"0.1.0", func(_ *fakeGitHub, d *fakeRelease) { d.TagName = "v0.1.0-rc.1" }, "has no release"},
		"two drafts": {"0.1.0", func(f *fakeGitHub, d *fakeRelease) {
			second := *d
			second.ID = 900
			f.releases = append(f.releases, &second)
		}, "draft 1, draft 900, want one draft"},
		"draft and public release": {"0.1.0", func(f *fakeGitHub, d *fakeRelease) {
			f.releases = append(f.releases, &fakeRelease{ID: 900, TagName: d.TagName})
		}, "draft 1, public release 900"},
		"two drafts on two pages": {"0.1.0", func(f *fakeGitHub, d *fakeRelease) {
			for id := range int64(150) {
				f.releases = append(f.releases, &fakeRelease{ID: 1000 + id, TagName: fmt.Sprint("v0.0.", id)})
			}
			second := *d
			second.ID = 900
			f.releases = append(f.releases, &second)
		}, "draft 1, draft 900"},
		"public already": {"0.1.0", func(_ *fakeGitHub, d *fakeRelease) { d.Draft = false }, "public release 1, want one draft"},
		"no text":        {"0.1.0", func(_ *fakeGitHub, d *fakeRelease) { d.Body = "\n" }, "no text"},
		"file missing":   {"0.1.0", func(_ *fakeGitHub, d *fakeRelease) { d.Assets = d.Assets[1:] }, "is missing"},
		"file too many": {"0.1.0", func(_ *fakeGitHub, d *fakeRelease) {
			d.Assets = append(d.Assets, &fakeAsset{Name: "more.zip", State: "uploaded"})
		}, "more.zip must not be there"},
		"file twice":     {"0.1.0", func(_ *fakeGitHub, d *fakeRelease) { d.Assets = append(d.Assets, d.Assets[0]) }, "is there twice"},
		"upload stopped": {"0.1.0", func(_ *fakeGitHub, d *fakeRelease) { d.Assets[0].State = "starter" }, "is not complete"},
		"file too short": {"0.1.0", func(_ *fakeGitHub, d *fakeRelease) { d.Assets[0].Size-- }, "is not complete"},
		"another file":   {"0.1.0", func(_ *fakeGitHub, d *fakeRelease) { d.Assets[0].Digest = "sha256:0" }, "not the file that was checked"},
		"no digests": {"0.1.0", func(_ *fakeGitHub, d *fakeRelease) {
			for _, asset := range d.Assets {
				asset.Digest = ""
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := textRelease(t, test.version)
			f := newFakeGitHub(t, "Acme-Corp/"+project)
			draft := f.addDraft(t, r)
			test.change(f, draft)
			before := f.describe(draft.TagName)
			err := f.Publish(t.Context(), r)
			if test.want == "" {
				if err != nil || draft.Draft {
					t.Fatalf("the draft is not public: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error that contains %q", err, test.want)
			}
			if after := f.describe(draft.TagName); after != before {
				t.Errorf("a refusal changed %s to %s", before, after)
			}
		})
	}
}

func TestCheckUnpublished(t *testing.T) {
	t.Parallel()
	f := newFakeGitHub(t, "Acme-Corp/"+project)
	draft := f.addDraft(t, textRelease(t, "0.1.0"))
	if err := f.CheckUnpublished(t.Context(), "v0.1.0"); err != nil {
		t.Errorf("a draft of an earlier run is a problem: %v", err)
	}
	draft.Draft = false
	if err := f.CheckUnpublished(t.Context(), "v0.1.0"); err == nil || !strings.Contains(err.Error(), "public already") {
		t.Errorf("got %v", err)
	}
	if err := f.CheckUnpublished(t.Context(), "v0.1.1"); err != nil {
		t.Errorf("another version is a problem: %v", err)
	}
	f.Token = "wrong"
	if err := f.CheckUnpublished(t.Context(), "v0.1.1"); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("a wrong token: got %v", err)
	}
}

// textRelease returns a release for which only the names of the files are right.
func textRelease(t *testing.T, version string) *Release {
	t.Helper()
	r := &Release{Version: version, Platforms: Platforms, root: root, dir: t.TempDir()}
	for _, path := range r.files(true) {
		if path != r.Manifest() {
			write(t, path, []byte(filepath.Base(path)))
		}
	}
	return r
}

// addDraft adds a draft with the files of a release.
func (f *fakeGitHub) addDraft(t *testing.T, r *Release) *fakeRelease {
	t.Helper()
	f.lastID++
	draft := &fakeRelease{ID: f.lastID, TagName: "v" + r.Version, Body: "FEATURES", Draft: true}
	for _, path := range r.files(true) {
		content := read(t, r.source(path))
		draft.Assets = append(draft.Assets, &fakeAsset{
			Name: filepath.Base(path), State: "uploaded", Size: len(content), Digest: "sha256:" + sum(content),
		})
	}
	f.releases = append(f.releases, draft)
	return draft
}
