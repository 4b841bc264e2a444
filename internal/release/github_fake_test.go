package release

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fakeGitHub implements the part of GitHub's REST API about the releases of one repository, on loopback.
type fakeGitHub struct {
	*GitHub
	URL string

	mu       sync.Mutex
	lastID   int64
	releases []*fakeRelease

	// failUpload refuses the upload of the file with this name.
	failUpload string
}

// fakeRelease is a release as GitHub's API represents it.
type fakeRelease struct {
	ID         int64        `json:"id"`
	Name       string       `json:"name"`
	TagName    string       `json:"tag_name"`
	Body       string       `json:"body"`
	Draft      bool         `json:"draft"`
	Prerelease bool         `json:"prerelease"`
	Assets     []*fakeAsset `json:"assets"`
}

type fakeAsset struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	State  string `json:"state"`
	Size   int    `json:"size"`
	Digest string `json:"digest"`

	content []byte
}

func newFakeGitHub(t *testing.T, repository string) *fakeGitHub {
	t.Helper()
	fake := &fakeGitHub{}
	mux := http.NewServeMux()
	releases := "/repos/" + repository + "/releases"
	handle := func(pattern string, handler func(r *http.Request) (int, any)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			fake.mu.Lock()
			defer fake.mu.Unlock()
			status, body := http.StatusUnauthorized, any(nil)
			if r.Header.Get("Authorization") == "Bearer test-token" {
				status, body = handler(r)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			if status != http.StatusNoContent {
				_ = json.NewEncoder(w).Encode(body) // fails only if the client has gone
			}
		})
	}
	handle("GET "+releases, fake.list)
	handle("POST "+releases, fake.create)
	handle("GET "+releases+"/tags/{tag}", fake.byTag)
	handle("PATCH "+releases+"/{id}", fake.edit)
	handle("DELETE "+releases+"/{id}", fake.remove)
	handle("POST "+releases+"/{id}/assets", fake.upload)
	handle("GET /rate_limit", func(*http.Request) (int, any) {
		limit := map[string]int{"limit": 5000, "remaining": 4999, "reset": 1}
		return http.StatusOK, map[string]any{"resources": map[string]any{"core": limit}}
	})
	// Goreleaser expects the paths of a GitHub server other than github.com.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, prefix := range []string{"/api/v3", "/api/uploads"} {
			if rest, ok := strings.CutPrefix(r.URL.Path, prefix); ok {
				r.URL.Path = rest
			}
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	fake.URL = server.URL
	fake.GitHub = &GitHub{API: server.URL + "/api/v3", Repository: repository, Token: "test-token"}
	return fake
}

func (f *fakeGitHub) list(r *http.Request) (int, any) {
	page, _ := strconv.Atoi(r.FormValue("page"))
	perPage, _ := strconv.Atoi(r.FormValue("per_page"))
	page, perPage = max(page, 1), max(perPage, 1)
	from := min((page-1)*perPage, len(f.releases))
	return http.StatusOK, f.releases[from:min(from+perPage, len(f.releases))]
}

func (f *fakeGitHub) create(r *http.Request) (int, any) {
	f.lastID++
	one := &fakeRelease{ID: f.lastID}
	if err := json.NewDecoder(r.Body).Decode(one); err != nil {
		return http.StatusBadRequest, err.Error()
	}
	one.ID, one.Assets = f.lastID, []*fakeAsset{}
	f.releases = append(f.releases, one)
	return http.StatusCreated, one
}

// byTag finds only public releases, like GitHub.
func (f *fakeGitHub) byTag(r *http.Request) (int, any) {
	for _, one := range f.releases {
		if one.TagName == r.PathValue("tag") && !one.Draft {
			return http.StatusOK, one
		}
	}
	return http.StatusNotFound, nil
}

func (f *fakeGitHub) find(r *http.Request) (int, *fakeRelease) {
	for i, one := range f.releases {
		if strconv.FormatInt(one.ID, 10) == r.PathValue("id") {
			return i, one
		}
	}
	return 0, nil
}

func (f *fakeGitHub) edit(r *http.Request) (int, any) {
	_, one := f.find(r)
	if one == nil {
		return http.StatusNotFound, nil
	}
	if err := json.NewDecoder(r.Body).Decode(one); err != nil {
		return http.StatusBadRequest, err.Error()
	}
	return http.StatusOK, one
}

func (f *fakeGitHub) remove(r *http.Request) (int, any) {
	i, one := f.find(r)
	if one == nil {
		return http.StatusNotFound, nil
	}
	f.releases = append(f.releases[:i], f.releases[i+1:]...)
	return http.StatusNoContent, nil
}

func (f *fakeGitHub) upload(r *http.Request) (int, any) {
	_, one := f.find(r)
	content, err := io.ReadAll(r.Body)
	name := r.FormValue("name")
	switch {
	case one == nil:
		return http.StatusNotFound, nil
	case err != nil || name == "":
		return http.StatusBadRequest, nil
	case f.failUpload != "" && strings.HasSuffix(name, f.failUpload):
		return http.StatusUnprocessableEntity, map[string]string{"message": "Validation Failed"}
	}
	f.lastID++
	asset := &fakeAsset{
		ID: f.lastID, Name: name, State: "uploaded", Size: len(content),
		Digest: "sha256:" + sum(content), content: content,
	}
	one.Assets = append(one.Assets, asset)
	return http.StatusCreated, asset
}

// describe returns all releases of the tag as text.
func (f *fakeGitHub) describe(tag string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, one := range f.releases {
		if one.TagName == tag {
			all = append(all, fmt.Sprintf("draft=%t files=%d", one.Draft, len(one.Assets)))
		}
	}
	return strings.Join(all, ", ")
}
