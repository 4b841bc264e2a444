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
	original := copyOf(t, releaseOf(t, "0.1.0"))
	key := newKey(t)
	sign(t, original, key)
	testInstall(t, original, source, armored(t, key))
	for name, damage := range tamperings(key) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := copyOf(t, original)
			damage.tamper(t, r)
			testRefused(t, r, source, armored(t, key), damage.want)
		})
	}
}

// tampering changes a signed release. The CLI refuses to install the release with a text.
type tampering struct {
	tamper func(t *testing.T, r *Release)
	want   string
}

// tamperings are by their descriptions. The one that signs again uses the given key.
func tamperings(key *openpgp.Entity) map[string]tampering {
	otherProgram := func(t *testing.T, r *Release) {
		copyArchive(t, r.Zip(Host()), r.Zip(Host()), func(name string) string { return name + "x" })
	}
	changeSums := func(t *testing.T, r *Release, change func(string) string) {
		write(t, r.Sums(), []byte(change(string(read(t, r.Sums())))))
	}
	return map[string]tampering{
		"another archive": {otherProgram, "checksum"},
		"another archive and its sum": {func(t *testing.T, r *Release) {
			otherProgram(t, r)
			if err := r.writeSums(); err != nil {
				t.Fatal(err)
			}
		}, "signature"},
		"half an archive": {func(t *testing.T, r *Release) {
			content := read(t, r.Zip(Host()))
			write(t, r.Zip(Host()), content[:len(content)/2])
		}, "checksum"},
		"sum of the archive missing, signed": {func(t *testing.T, r *Release) {
			changeSums(t, r, func(sums string) string {
				return strings.ReplaceAll(sums, filepath.Base(r.Zip(Host())), "another.zip")
			})
			sign(t, r, key)
		}, "checksum"},
		"a line more in the sums": {func(t *testing.T, r *Release) {
			changeSums(t, r, func(sums string) string { return sums + strings.Repeat("0", 64) + "  more.zip\n" })
		}, "signature"},
		"no sums":                 {func(t *testing.T, r *Release) { changeSums(t, r, func(string) string { return "" }) }, "checksum"},
		"signed with another key": {func(t *testing.T, r *Release) { sign(t, r, newKey(t)) }, "signature"},
		"empty signature":         {func(t *testing.T, r *Release) { write(t, r.Signature(), nil) }, "signature"},
		"not signed": {func(t *testing.T, r *Release) {
			if err := os.Remove(r.Signature()); err != nil {
				t.Fatal(err)
			}
		}, "signature"},
	}
}

// newRegistry returns a workspace that installs the release from a registry on loopback, over TLS.
func newRegistry(t *testing.T, r *Release, source, publicKey string) *workspace {
	t.Helper()
	registry := httptest.NewTLSServer(registryHandler(t, r, source, publicKey))
	t.Cleanup(registry.Close)
	w := newWorkspace(t, "direct {}", strings.TrimPrefix(registry.URL, "https://")+"/"+source)
	w.sandbox.Env["SSL_CERT_FILE"] = filepath.Join(w.dir, "registry.pem")
	write(t, w.sandbox.Env["SSL_CERT_FILE"], certificate(registry.Certificate()))
	return w
}

// testInstall checks that the CLI installs the release, names the key, and applies with the provider.
func testInstall(t *testing.T, r *Release, source, publicKey string) {
	t.Helper()
	w := newRegistry(t, r, source, publicKey)
	out, err := w.run("init")
	if err != nil || !strings.Contains(out, keyID(t, publicKey)) {
		t.Fatalf("init did not accept the key %s: %v\n%s", keyID(t, publicKey), err, out)
	}
	w.mustRun("apply", "-auto-approve")
	w.wantVersion(r.Version)
}

// testRefused checks that the CLI does not install the release, and says why.
func testRefused(t *testing.T, r *Release, source, publicKey, want string) {
	t.Helper()
	out, err := newRegistry(t, r, source, publicKey).run("init")
	if err == nil || !strings.Contains(strings.ToLower(out), want) {
		t.Errorf("init ended with %v and printed\n%s", err, out)
	}
}

func keyID(t *testing.T, publicKey string) string {
	t.Helper()
	keys, err := openpgp.ReadArmoredKeyRing(strings.NewReader(publicKey))
	if err != nil || len(keys) != 1 {
		t.Fatalf("%d keys: %v", len(keys), err)
	}
	return keys[0].PrimaryKey.KeyIdString()
}

// registryHandler returns a registry that has one version of one provider.
func registryHandler(t *testing.T, r *Release, source, publicKey string) http.Handler {
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
	source = strings.ToLower(source) // a CLI asks for the provider in lower case
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
			"key_id":      keyID(t, publicKey),
			"ascii_armor": publicKey,
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
	write(t, r.Signature(), signature.Bytes())
}

// armored returns the public keys like "gpg --armor --export".
func armored(t *testing.T, keys ...*openpgp.Entity) string {
	t.Helper()
	var text strings.Builder
	writer, err := armor.Encode(&text, openpgp.PublicKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := key.Serialize(writer); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func certificate(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}
