package provider

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Identity, and the ways to import by it or by id.

// identity is what the state says of a resource's identity, in the CLI's own JSON.
func (w *workspace) identity(address string) map[string]any {
	w.t.Helper()
	var state struct {
		Values struct {
			RootModule struct {
				Resources []struct {
					Address  string
					Identity map[string]any
				}
			} `json:"root_module"`
		}
	}
	if err := json.Unmarshal([]byte(w.run("show", "-json").stdout), &state); err != nil {
		w.t.Fatal(err)
	}
	for _, r := range state.Values.RootModule.Resources {
		if r.Address == address {
			return r.Identity
		}
	}
	w.t.Fatalf("the state has no %s", address)
	return nil
}

func TestAccIdentityIsKept(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1", "a/b")...)
	w := newWorkspace(t, url, cam1p1p2)
	w.atLeast("1.12", "1.12")
	want := func(step, id string) {
		t.Helper()
		got := w.identity("stream_processors.this")
		if diff := cmp.Diff(map[string]any{"stream_id": id}, got); diff != "" {
			t.Errorf("identity after %s (-want +got):\n%s", step, diff)
		}
	}
	w.mustApply()
	want("a create", "cam-1")
	w.mustApply("-refresh-only")
	want("a refresh", "cam-1")
	w.write(strings.Replace(cam1p1p2, `"p2"`, `"p3"`, 1))
	w.mustApply()
	want("an update", "cam-1")
	w.write(strings.Replace(cam1p1p2, `"p2"]`, "\"p3\"]\n  on_destroy = \"keep\"", 1))
	w.mustApply()
	want("an update that sends nothing", "cam-1")
	w.write(strings.Replace(cam1p1p2, "cam-1", "a/b", 1))
	w.mustApply()
	want("a replace", "a/b")
	w.wantNoChanges()
	if r := w.run("state", "rm", "stream_processors.this"); r.code != 0 {
		t.Fatal(r)
	}
	if r := w.run("import", "-no-color", "stream_processors.this", "a/b"); r.code != 0 {
		t.Fatal(r)
	}
	want("an import", "a/b")
}

// Each CLI asks for identities through the same protocol, and some of them do not show it.
func TestIdentityIsKept(t *testing.T) {
	t.Parallel()
	for _, detect := range []bool{false, true} {
		t.Run(fmt.Sprintf("detect_drift=%t", detect), func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1", "cam-2")...)
			p := startProvider(t, attributes{"base_url": url, "detect_drift": detect})
			want := func(step string, got managed, diags diagnostics, id string) {
				t.Helper()
				if diags.failed() {
					t.Fatalf("%s: %s", step, diags)
				}
				if diff := cmp.Diff(map[string]any{"stream_id": id}, identityIn(t, got.identity)); diff != "" {
					t.Errorf("identity after %s (-want +got):\n%s", step, diff)
				}
			}
			config := func(id, onDestroy string, set ...string) tftypes.Value {
				return value(resourceSchema().ValueType(), attributes{"stream_id": id, "processor_ids": set, "on_destroy": onDestroy})
			}
			change := func(step string, prior managed, config tftypes.Value, id string) managed {
				t.Helper()
				planned, _, diags := p.plan(prior, config, proposed(prior.value, config))
				if diags.failed() {
					t.Fatalf("%s: %s", step, diags)
				}
				got, diags := p.apply(prior.value, planned, config)
				want(step, got, diags, id)
				return got
			}

			imported, diags := p.importState("cam-2")
			if diags.failed() {
				t.Fatal(diags)
			}
			imported, diags = p.read(imported)
			want("import", imported, diags, "cam-2")
			change("the update after an import", imported, config("cam-2", "keep", "p1"), "cam-2")

			p = startProvider(t, attributes{"base_url": url, "detect_drift": detect})
			created := change("create", managed{value: nothing()}, config("cam-1", "detach", "p1"), "cam-1")
			p = startProvider(t, attributes{"base_url": url, "detect_drift": detect})
			read, diags := p.read(created)
			want("read", read, diags, "cam-1")
			updated := change("update", read, config("cam-1", "detach", "p2"), "cam-1")
			kept := change("an update that sends nothing", updated, config("cam-1", "keep", "p2"), "cam-1")

			// A state from before there was an identity.
			old := kept
			old.identity = nil
			p = startProvider(t, attributes{"base_url": url, "detect_drift": detect})
			read, diags = p.read(old)
			want("a read of an old state", read, diags, "cam-1")
			change("an update of an old state", old, config("cam-1", "keep", "p3"), "cam-1")
			change("an update of an old state that sends nothing", old, config("cam-1", "detach", "p3"), "cam-1")
			service.WantAttached(t, "cam-1", "p3")
		})
	}
}

// identityIn decodes an identity. None is as good as a null one to Terraform.
func identityIn(t rapid.TB, data *tfprotov6.ResourceIdentityData) any {
	if data == nil {
		return nil
	}
	decoded, err := data.IdentityData.Unmarshal(identityType)
	if err != nil {
		t.Fatal(err)
	}
	return plain(decoded)
}

// With a read, an import knows all at once, whatever the way.
func TestAccImportReads(t *testing.T) {
	t.Parallel()
	byBlock := func(how string) string { return "import {\n  to = stream_processors.this\n  " + how + "\n}\n" }
	for name, test := range map[string]struct {
		block           string // "": by command
		terraform, tofu string // the oldest that can
	}{
		"command":  {"", "1.0", "1.6"},
		"id":       {byBlock(`id = "cam-1"`), "1.5", "1.6"},
		"identity": {byBlock(`identity = { stream_id = "cam-1" }`), "1.12", "1.12"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{ServeGet: true},
				streamstest.Stream{ID: "cam-1", TerminalID: "terminal-5", ProcessorIDs: []string{"p2", "p1"}})
			w := newWorkspace(t, url, detecting(cam1p1p2))
			w.atLeast(test.terraform, test.tofu)
			if test.block == "" {
				wantEnd(t, w.run("import", "-no-color", "stream_processors.this", "cam-1"), 0)
			} else {
				w.write(test.block + detecting(cam1p1p2))
				wantEnd(t, w.plan(), 2, "1 to import, 0 to add, 0 to change")
				service.WantRequests(t, getCam1)
				w.mustApply()
			}
			service.WantRequests(t, getCam1)
			w.wantNoChanges()
			service.WantRequests(t, getCam1)
			values := w.resources()["stream_processors.this"].AttributeValues
			if values["id"] != "cam-1" || values["terminal_id"] != "terminal-5" {
				t.Errorf("the state is %v", values)
			}
		})
	}
}

func TestAccImportOfAMissingStream(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true})
	w := newWorkspace(t, url, detecting(cam1p1p2))
	wantEnd(t, w.run("import", "-no-color", "stream_processors.this", "cam-1"), 1, "non-existent remote object")
	service.WantRequests(t, getCam1)
	if left := w.resources(); len(left) != 0 {
		t.Errorf("the state has %v", left)
	}
}

func TestAccGenerateConfig(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true},
		streamstest.Stream{ID: `a/"b" ${c}`, ProcessorIDs: []string{"p2", "p1", "%{x}"}}, streamstest.Stream{ID: "cam-2"})
	// To generate, Terraform 1.16.0-rc2 finds the provider by this argument alone. No CLI minds it then,
	// and each refuses it once there is a configuration.
	const provider = "provider = stream"
	blocks := `
import {
  to = stream_processors.one
  id = "a/\"b\" $${c}"
  ` + provider + `
}

import {
  to = stream_processors.empty
  id = "cam-2"
  ` + provider + `
}
`
	w := newWorkspace(t, url, blocks)
	w.atLeast("1.5", "1.6")

	// Without a read nobody knows the set: the configuration that is written says so, and is no trap.
	wantEnd(t, w.plan("-generate-config-out=blind.tf"), 1, "Missing Configuration for Required Attribute", "processor_ids")
	blind, err := os.ReadFile(filepath.Join(w.dir, "blind.tf"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(blind), "processor_ids = null") {
		t.Errorf("generated without a read:\n%s", blind)
	}
	service.WantRequests(t)
	if err := os.Remove(filepath.Join(w.dir, "blind.tf")); err != nil {
		t.Fatal(err)
	}

	w.setenv("STREAM_DETECT_DRIFT", "true")
	wantEnd(t, w.plan("-generate-config-out=generated.tf"), 2, "2 to import, 0 to add, 0 to change, 0 to destroy")
	w.write(strings.ReplaceAll(blocks, provider, ""))
	if r := w.run("validate", "-no-color"); r.code != 0 {
		t.Errorf("validate: %v", r)
	}
	w.mustApply()
	w.wantNoChanges()
	for _, line := range service.DrainRequests() {
		if !strings.HasPrefix(line, "GET ") {
			t.Errorf("sent %s", line)
		}
	}
	service.WantAttached(t, `a/"b" ${c}`, "%{x}", "p1", "p2")
}
