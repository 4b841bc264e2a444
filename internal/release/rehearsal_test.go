package release

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRehearsal publishes a release of the last commit to a stand-in for GitHub and installs the release from
// a registry on loopback. It runs the commands of the release workflow, in their order. "make rehearsal" sets
// the variables.
func TestRehearsal(t *testing.T) {
	goreleaser := os.Getenv("REHEARSAL_GORELEASER")
	if goreleaser == "" {
		t.Skip(`"make rehearsal" runs this test`)
	}
	step := func(name string, run func(t *testing.T)) {
		t.Helper()
		if !t.Run(name, run) {
			t.Fatal("the rehearsal ends here")
		}
	}
	r := newRehearsal(t, os.Getenv("REHEARSAL_NAMESPACE"))
	steps := workflowSteps(t)
	run := func(t *testing.T) (string, error) {
		for _, command := range steps {
			if rest, ok := strings.CutPrefix(command, "release "); ok {
				command = goreleaser + " release --config " + r.goreleaserConfig(t) + " " + rest
			}
			if strings.HasSuffix(command, " rebuild") {
				command += " -platform " + Host().String() // an empty cache makes each one slow
			}
			t.Log(command)
			if out, err := r.command(t, command); err != nil {
				return out, err
			}
		}
		return "", nil
	}
	refuse := func(want string) func(t *testing.T) {
		return func(t *testing.T) {
			out, err := run(t)
			if err == nil || !strings.Contains(out, want) {
				t.Fatalf("the run ended with %v, want the refusal %q\n%s", err, want, out)
			}
			if got := r.github.describe(r.tag); got != "" {
				t.Errorf("a refused run left %s", got)
			}
		}
	}

	if found, _ := licences(r.dir); len(found) == 0 {
		step("the workflow refuses a commit without a licence", refuse("there is no licence"))
		write(t, filepath.Join(r.dir, "LICENSE"), []byte("A stand-in for a licence.\n"))
		r.commit(t)
	}
	if _, err := Notes(r.dir, r.tag); err != nil {
		step("the workflow refuses a version without a date", refuse("has no date"))
		log := read(t, filepath.Join(r.dir, "CHANGELOG.md"))
		write(t, filepath.Join(r.dir, "CHANGELOG.md"), bytes.Replace(log, []byte("(unreleased)"), []byte("(2026-01-01)"), 1))
		r.commit(t)
	}
	step("the workflow refuses a key that is neither RSA nor DSA", func(t *testing.T) {
		r.newKey(t, "ed25519")
		refuse("neither RSA nor DSA")(t)
	})
	r.newKey(t, "rsa4096") // the kind that PUBLISHING.md has
	step("a run that fails half-way leaves one draft", func(t *testing.T) {
		r.github.failUpload = "_manifest.json"
		if out, err := run(t); err == nil || !strings.Contains(out, "Validation Failed") {
			t.Fatalf("the run ended with %v\n%s", err, out)
		}
		if drafts := r.github.describe(r.tag); strings.Count(drafts, "draft=true") != 1 || strings.Contains(drafts, "false") {
			t.Errorf("GitHub has %s", drafts)
		}
	})
	step("the second run replaces the draft, checks it and publishes one release", func(t *testing.T) {
		r.github.failUpload = ""
		if out, err := run(t); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		files := (&Release{Platforms: Platforms, dir: r.dir}).files(true)
		if got, want := r.github.describe(r.tag), fmt.Sprintf("draft=false files=%d", len(files)); got != want {
			t.Errorf("GitHub has %s, want %s", got, want)
		}
	})
	step("the tag of the release, not the tag of its candidate, is the version of the files", func(t *testing.T) {
		found, err := Find(t.Context(), r.dir, filepath.Join(r.dir, "dist"))
		if err != nil {
			t.Fatal(err)
		}
		if err := found.CheckTag(r.tag); err != nil {
			t.Error(err)
		}
	})
	step("the text of the release is the section of the changelog", func(t *testing.T) {
		notes, err := Notes(r.dir, r.tag)
		if body := r.github.releases[0].Body; err != nil || strings.TrimSpace(body) != strings.TrimSpace(notes) {
			t.Errorf("the text is %q (%v)", body, err)
		}
	})
	step("the workflow refuses to publish the version again", func(t *testing.T) {
		out, err := run(t)
		if err == nil || !strings.Contains(out, "is public already") {
			t.Errorf("the run ended with %v\n%s", err, out)
		}
	})

	published := r.download(t)
	key := r.publicKey(t)
	step("the CLI installs the published files, names the key, and applies", func(t *testing.T) {
		testInstall(t, published, r.source, key)
	})
	signer := r.signer(t)
	for name, damage := range tamperings(signer) {
		step("the CLI refuses the release: "+name, func(t *testing.T) {
			damaged := copyOf(t, published)
			damage.tamper(t, damaged)
			testRefused(t, damaged, r.source, key, damage.want)
		})
	}
	r.keep(t)
	t.Logf("Not rehearsed: GitHub itself, attestations, approvals%s.", r.notRehearsed)
}

// documentedCommands returns the first block of shell commands in a section of PUBLISHING.md.
func documentedCommands(t *testing.T, heading string) string {
	t.Helper()
	_, section, found := strings.Cut(string(read(t, filepath.Join(root, ".github", "PUBLISHING.md"))), "\n## "+heading+"\n")
	_, block, hasBlock := strings.Cut(section, "```shell\n")
	block, _, ends := strings.Cut(block, "```")
	if !found || !hasBlock || !ends {
		t.Fatalf("PUBLISHING.md has no commands in section %q", heading)
	}
	return block
}

// runShell runs commands in a folder and returns their output.
func runShell(t *testing.T, dir, script string, env ...string) (string, error) {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	shell.Dir = dir
	shell.Env = append(os.Environ(), env...)
	out, err := shell.CombinedOutput()
	return string(out), err
}
