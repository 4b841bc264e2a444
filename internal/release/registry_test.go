package release

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// TestAccRegistry installs from a registry. The CLI finds the release and accepts its signature; it refuses
// a release that was tampered with.
func TestAccRegistry(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("on this platform, SSL_CERT_FILE has no effect")
	}
	original := releaseOf(t, "0.1.0")
	key, other := newKey(t), newKey(t)
	for name, test := range map[string]struct {
		tamper func(t *testing.T, r *Release)
		want   string // "" if it installs
	}{
		"unchanged": {func(*testing.T, *Release) {}, ""},
		"another archive": {func(t *testing.T, r *Release) {
			write(t, r.Zip(Host()), read(t, releaseOf(t, "0.1.1").Zip(Host())))
		}, "checksum"},
		"another archive and its sum": {func(t *testing.T, r *Release) {
			write(t, r.Zip(Host()), read(t, releaseOf(t, "0.1.1").Zip(Host())))
			if err := r.writeSums(); err != nil {
				t.Fatal(err)
			}
		}, "signature"},
		"signed with another key": {func(t *testing.T, r *Release) { sign(t, r, other) }, "signature"},
		"not signed": {func(t *testing.T, r *Release) {
			if err := os.Remove(r.Sums() + ".sig"); err != nil {
				t.Fatal(err)
			}
		}, "signature"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := copyOf(t, original)
			sign(t, r, key)
			if err := checkSignature(r.Sums() + ".sig"); err != nil {
				t.Fatal(err)
			}
			test.tamper(t, r)
			registry := httptest.NewTLSServer(registryHandler(t, r, key))
			t.Cleanup(registry.Close)

			w := newWorkspace(t, "direct {}", strings.TrimPrefix(registry.URL, "https://")+"/"+source)
			w.sandbox.Env["SSL_CERT_FILE"] = filepath.Join(w.dir, "registry.pem")
			write(t, w.sandbox.Env["SSL_CERT_FILE"], certificate(registry.Certificate()))
			out, err := w.run("init")
			if test.want != "" {
				if err == nil || !strings.Contains(strings.ToLower(out), test.want) {
					t.Errorf("init ended with %v and printed\n%s", err, out)
				}
				return
			}
			if err != nil || !strings.Contains(out, key.PrimaryKey.KeyIdString()) {
				t.Fatalf("init did not accept the key %s: %v\n%s", key.PrimaryKey.KeyIdString(), err, out)
			}
			w.mustRun("apply", "-auto-approve")
		})
	}
}

// registryHandler returns a registry that has one version of one provider.
func registryHandler(t *testing.T, r *Release, key *openpgp.Entity) http.Handler {
	t.Helper()
	var manifest struct {
		Metadata struct {
			ProtocolVersions []string `json:"protocol_versions"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(read(t, r.Manifest()), &manifest); err != nil {
		t.Fatal(err)
	}
	sum, err := fileSum(r.Zip(Host()))
	if err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	registry := http.NewServeMux()
	respond := func(path string, body object) {
		registry.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(body) // fails only if the client has gone
		})
	}
	respond("/.well-known/terraform.json", object{"providers.v1": "/v1/providers/"})
	respond("/v1/providers/"+source+"/versions", object{"versions": []object{{
		"version":   r.Version,
		"protocols": manifest.Metadata.ProtocolVersions,
		"platforms": []object{{"os": Host().OS, "arch": Host().Arch}},
	}}})
	respond(fmt.Sprintf("/v1/providers/%s/%s/download/%s/%s", source, r.Version, Host().OS, Host().Arch), object{
		"protocols":             manifest.Metadata.ProtocolVersions,
		"os":                    Host().OS,
		"arch":                  Host().Arch,
		"filename":              filepath.Base(r.Zip(Host())),
		"download_url":          "/files/" + filepath.Base(r.Zip(Host())),
		"shasums_url":           "/files/" + filepath.Base(r.Sums()),
		"shasums_signature_url": "/files/" + filepath.Base(r.Sums()) + ".sig",
		"shasum":                sum,
		"signing_keys": object{"gpg_public_keys": []object{{
			"key_id":      key.PrimaryKey.KeyIdString(),
			"ascii_armor": armored(t, key),
		}}},
	})
	registry.Handle("GET /files/", http.StripPrefix("/files/", http.FileServer(http.Dir(r.dir))))
	return registry
}

// newKey returns a key of a kind that both registries accept.
func newKey(t *testing.T) *openpgp.Entity {
	t.Helper()
	key, err := openpgp.NewEntity("Test", "", "", &packet.Config{Algorithm: packet.PubKeyAlgoRSA, RSABits: 2048})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign writes a signature like that of "gpg --detach-sign".
func sign(t *testing.T, r *Release, key *openpgp.Entity) {
	t.Helper()
	var signature bytes.Buffer
	if err := openpgp.DetachSign(&signature, key, bytes.NewReader(read(t, r.Sums())), nil); err != nil {
		t.Fatal(err)
	}
	write(t, r.Sums()+".sig", signature.Bytes())
}

// armored returns the public key like "gpg --armor --export".
func armored(t *testing.T, key *openpgp.Entity) string {
	t.Helper()
	var text strings.Builder
	writer, err := armor.Encode(&text, openpgp.PublicKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := key.Serialize(writer); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func certificate(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}
