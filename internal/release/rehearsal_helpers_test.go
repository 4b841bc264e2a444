package release

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"

	"github.com/stream-management/terraform-provider-stream/internal/cli"
)

// rehearsal is a clone of the last commit with a tag, a stand-in for GitHub and a key ring.
type rehearsal struct {
	dir, temp, tag string
	source         string // such as acme-corp/stream
	github         *fakeGitHub
	fingerprint    string
	env            []string
	notRehearsed   string
}

var firstVersion = regexp.MustCompile(`(?m)^## (\S+)`)

// newRehearsal prepares a clone, in which it replaces the namespace as PUBLISHING.md says unless the new
// namespace is empty.
func newRehearsal(t *testing.T, namespace string) *rehearsal {
	t.Helper()
	temp := t.TempDir()
	r := &rehearsal{dir: filepath.Join(temp, "clone"), temp: temp, source: cli.Source}
	mustGit(t, root, "clone", "--quiet", ".", r.dir)
	if namespace != "" {
		t.Logf("replacing the namespace with %s", namespace)
		commands := strings.ReplaceAll(documentedCommands(t, namespaceSection), "NAMESPACE", namespace)
		// The commands run the tests of the clone, which must not rehearse in turn.
		if out, err := runShell(t, r.dir, commands, "REHEARSAL_GORELEASER=", "TF_ACC="); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		r.source = namespace + "/stream"
		commit(t, r.dir)
	}
	owner, _, _ := strings.Cut(r.source, "/")
	mustGit(t, r.dir, "remote", "set-url", "origin", "https://github.com/"+owner+"/"+project+".git")
	version := firstVersion.FindSubmatch(read(t, filepath.Join(r.dir, "CHANGELOG.md")))
	if version == nil {
		t.Fatal("CHANGELOG.md has no version")
	}
	r.tag = "v" + string(version[1])
	r.github = newFakeGitHub(t, owner+"/"+project)

	home, err := os.MkdirTemp("", "gpg-") //nolint:usetesting // the path of a socket of gpg must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run() // the agent also ends without its folder
		os.RemoveAll(home)
	})
	r.env = []string{
		"GNUPGHOME=" + home, "RUNNER_TEMP=" + temp,
		"GITHUB_API_URL=" + r.github.API, "GITHUB_TOKEN=" + r.github.Token,
		"GITHUB_REPOSITORY=" + r.github.Repository, "GITHUB_REF_NAME=" + r.tag, "GORELEASER_CURRENT_TAG=" + r.tag,
	}
	if _, err := exec.LookPath("syft"); err != nil {
		r.addSyft(t)
	}
	r.addTags(t)
	return r
}

// addSyft puts a stand-in for syft on PATH, which writes an empty bill of materials.
func (r *rehearsal) addSyft(t *testing.T) {
	t.Helper()
	bin := filepath.Join(r.temp, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nfor arg; do case $arg in spdx-json=*) echo '{}' >\"${arg#*=}\" ;; esac; done\n"
	if err := os.WriteFile(filepath.Join(bin, "syft"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	r.env = append(r.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	r.notRehearsed = ", the content of the bills of materials (syft is not installed)"
}

// commit commits all changes and moves the tags.
func (r *rehearsal) commit(t *testing.T) {
	t.Helper()
	commit(t, r.dir)
	r.addTags(t)
}

// addTags tags the last commit as a candidate and as the release.
func (r *rehearsal) addTags(t *testing.T) {
	t.Helper()
	mustGit(t, r.dir, "tag", "--force", r.tag+"-rc.1")
	mustGit(t, r.dir, "tag", "--force", r.tag)
	mustGit(t, r.dir, "update-ref", "refs/remotes/origin/main", "HEAD")
}

func (r *rehearsal) command(t *testing.T, command string) (string, error) {
	t.Helper()
	return runShell(t, r.dir, command, append(r.env, "GPG_FINGERPRINT="+r.fingerprint)...)
}

// goreleaserConfig returns the path of .goreleaser.yml with the address of the stand-in for GitHub.
func (r *rehearsal) goreleaserConfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(r.temp, "goreleaser.yml")
	write(t, path, fmt.Appendf(read(t, filepath.Join(r.dir, ".goreleaser.yml")),
		"\ngithub_urls:\n  api: %[1]s/\n  upload: %[1]s/\n  download: %[1]s/\n", r.github.URL))
	return path
}

// newKey makes a signing key of this kind, which the next commands use.
func (r *rehearsal) newKey(t *testing.T, kind string) {
	t.Helper()
	out, err := r.command(t, "gpg --batch --status-fd 1 --passphrase '' --quick-generate-key 'Rehearsal <"+kind+"@example.com>' "+kind+" sign never")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, rest, found := strings.Cut(out, "KEY_CREATED P ")
	if !found {
		t.Fatalf("gpg made no key:\n%s", out)
	}
	r.fingerprint = strings.Fields(rest)[0]
}

func (r *rehearsal) publicKey(t *testing.T) string {
	t.Helper()
	return r.export(t, "--export")
}

// signer returns the secret key.
func (r *rehearsal) signer(t *testing.T) *openpgp.Entity {
	t.Helper()
	keys, err := openpgp.ReadArmoredKeyRing(strings.NewReader(r.export(t, "--export-secret-keys")))
	if err != nil || len(keys) != 1 {
		t.Fatalf("%d keys: %v", len(keys), err)
	}
	return keys[0]
}

func (r *rehearsal) export(t *testing.T, option string) string {
	t.Helper()
	key, err := r.command(t, "gpg --batch --armor --pinentry-mode loopback --passphrase '' "+option+" "+r.fingerprint)
	if err != nil {
		t.Fatalf("%v\n%s", err, key)
	}
	return key
}

// download returns the files of the public release as a registry gets them.
func (r *rehearsal) download(t *testing.T) *Release {
	t.Helper()
	published, err := New(t.Context(), r.dir, t.TempDir(), strings.TrimPrefix(r.tag, "v"))
	if err != nil {
		t.Fatal(err)
	}
	for _, asset := range r.github.releases[0].Assets {
		write(t, filepath.Join(published.dir, asset.Name), asset.content)
	}
	return published
}

// keep copies the files of the release to dist/ in this tree.
func (r *rehearsal) keep(t *testing.T) {
	t.Helper()
	dist := filepath.Join(root, "dist")
	if err := os.RemoveAll(dist); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dist, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, asset := range r.github.releases[0].Assets {
		write(t, filepath.Join(dist, asset.Name), asset.content)
	}
}
