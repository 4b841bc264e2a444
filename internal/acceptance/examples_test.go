package acceptance

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Each example works unchanged on a service that demands its scheme.
func TestAccExamplesOfAuthentication(t *testing.T) {
	t.Parallel()
	ca := streamstest.NewAuthority(t)
	client := ca.Issue(t, "terraform")
	for _, test := range []struct {
		folder    string
		authorize func(*http.Request) error
		env       []string
	}{
		{"token", streamstest.Bearer("t0ken"), []string{"TF_VAR_token=t0ken"}},
		{"token-file", streamstest.Bearer("t0ken"), []string{"TF_VAR_token_file=t0ken"}},
		{"basic-auth", streamstest.Basic("me", "pass"), []string{"TF_VAR_username=me", "TF_VAR_password=pass"}},
		{"oauth2", nil, []string{"TF_VAR_token_url=<token url>", "TF_VAR_client_id=me@tenant", "TF_VAR_client_secret=s3cret/+ %&"}},
		{"client-assertion", nil, []string{"TF_VAR_token_url=<token url>", "TF_VAR_client_id=me@tenant", "STREAM_OAUTH2_CLIENT_ASSERTION_FILE=assertion"}},
		{"api-key-header", streamstest.APIKey("X-Api-Key", "k3y"), []string{"TF_VAR_api_key=k3y"}},
		{"mutual-tls", func(r *http.Request) error {
			if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
				return errors.New("a client certificate is required")
			}
			return nil
		}, []string{"TF_VAR_ca_cert_file=ca.pem", "TF_VAR_client_cert_file=client.pem", "TF_VAR_client_key_file=client-key.pem"}},
	} {
		t.Run(test.folder, func(t *testing.T) {
			t.Parallel()
			w := newExample(t, "authentication/"+test.folder)
			w.writeFile("ca.pem", ca.CertPEM)
			w.writeFile("client.pem", client.CertPEM)
			w.writeFile("client-key.pem", client.KeyPEM)
			tokens, tokenURL := startTokenServer(t, clientSecret)
			w.writeFile("t0ken", "t0ken\n")
			if test.folder == "client-assertion" {
				tokens.Assertions = streamstest.NewAssertions(t, "https://login.example.com")
				w.writeFile("assertion", tokens.Assertions.Issue(tokens.ClientID, time.Minute)+"\n")
			}
			authorize := test.authorize
			if authorize == nil {
				authorize = tokens.Authorize
			}
			service, url := streamstest.Start(t, streamstest.Options{Authorize: authorize}, streamstest.Streams("cam-1")...)
			if test.folder == "mutual-tls" {
				url = "https://" + serveTLS(t, service, ca.Issue(t, "127.0.0.1"), ca)
			}
			w.setenv("TF_VAR_base_url", url)
			w.setenvs(withTokenURL(test.env, tokenURL)...)
			w.mustApply()
			service.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["object-detection"]}`)
		})
	}
}

func TestAccExampleOfTwoRegions(t *testing.T) {
	t.Parallel()
	w := newExample(t, "two-regions")
	here, url := streamstest.Start(t, streamstest.Options{Authorize: streamstest.Bearer("t0ken")}, streamstest.Streams("cam-1")...)
	there, alt := streamstest.Start(t, streamstest.Options{Authorize: streamstest.Bearer("t0ken")}, streamstest.Streams("cam-2")...)
	w.setenv("TF_VAR_base_url", url)
	w.setenv("TF_VAR_base_url_alt", alt)
	w.setenv("STREAM_TOKEN", "t0ken")
	w.mustApply()
	here.WantRequests(t, `PATCH /v2/streams/cam-1 {"processor_ids":["object-detection"]}`)
	there.WantRequests(t, `PATCH /v2/streams/cam-2 {"processor_ids":["object-detection"]}`)
	w.wantNoChanges()
}

func TestAccExamplesOfFleets(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"fleet-csv", "fleet-yaml"} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			w := newExample(t, folder)
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(fleetIDs(3)...)...)
			w.setenv("STREAM_BASE_URL", url)
			w.mustApply()
			service.WantRequests(t,
				`PATCH /v2/streams/cam-1 {"processor_ids":["object-detection","people-counter"]}`,
				`PATCH /v2/streams/cam-2 {"processor_ids":["object-detection"]}`,
				`PATCH /v2/streams/cam-3 {"processor_ids":[]}`,
			)
			w.wantNoChanges()
		})
	}
}

// newExample makes a workspace with a copy of an example.
func newExample(t *testing.T, folder string) *workspace {
	t.Helper()
	w := newWorkspace(t, "", "")
	w.removeFile("main.tf")
	w.removeFile("versions.tf")
	if err := os.CopyFS(w.dir, os.DirFS(filepath.Join("..", "..", "examples", folder))); err != nil {
		t.Fatal(err)
	}
	return w
}

// The hook for agents of HCP Terraform writes a variable in the form that the agent reads.
func TestExampleOfAnAgentHook(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the hook is a shell script")
	}
	variables := filepath.Join(t.TempDir(), "variables")
	hook := exec.CommandContext(t.Context(), "sh", filepath.Join("..", "..", "examples", "authentication", "client-assertion", "agent-hook.sh"))
	hook.Env = append(os.Environ(), "TFC_AGENT_ENV="+variables, "TFC_WORKLOAD_IDENTITY_TOKEN=a.b.c")
	if out, err := hook.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	written, err := os.ReadFile(variables)
	if err != nil || string(written) != "STREAM_OAUTH2_CLIENT_ASSERTION=a.b.c\n" {
		t.Errorf("the hook wrote %q, %v", written, err)
	}
}
