package examples

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/cli"
	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// TestAccPageMirror fills a mirror with the script of the page, and installs the provider with both CLI configurations: from
// the folder, and from a web server that serves it. The lock file has one entry, because the source has a host.
func TestAccPageMirror(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("zip"); err != nil || runtime.GOOS == "windows" {
		t.Skip("needs zip and a Unix shell")
	}
	const host = "registry.terraform.io"
	source := host + "/" + strings.ToLower(cli.Source)
	tree := newSourceTree(t)
	tree.Mirror = t.TempDir()
	platform := runtime.GOOS + "_" + runtime.GOARCH
	fill := func(platforms string) (string, error) {
		tree.Write("mirror.sh", strings.Replace(read(t, "infrastructure/mirror.sh"), "linux_amd64 darwin_arm64 windows_amd64", platforms, 1))
		return shell(t, tree, "sh mirror.sh 0.1.0 "+tree.Mirror)
	}
	if out, err := fill("none_none " + platform); err == nil {
		t.Errorf("the script succeeds without one of the platforms:\n%s", out)
	}
	if out, err := fill(platform); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	shown := read(t, "installing/0.1.0.json")
	for name, want := range map[string]string{
		"index.json": read(t, "installing/index.json"),
		"0.1.0.json": strings.ReplaceAll(shown[:strings.Index(shown, ",")]+"}}\n", "linux_amd64", platform),
	} {
		if got := read(t, filepath.Join(tree.Mirror, filepath.FromSlash(source), name)); got != want {
			t.Errorf("%s is %s, and the page shows %s", name, got, want)
		}
	}

	w := newWorkspace(t, "", "http://127.0.0.1:1")
	w.Write("main.tf", strings.Replace(read(t, "provider/provider.tf"), cli.Source, host+"/"+cli.Source, 1))
	install := func(config, from, to string) {
		w.Write("cli.tfrc", read(t, config))
		w.Edit("cli.tfrc", from, to)
		w.Setenv("TF_CLI_CONFIG_FILE=" + w.Path("cli.tfrc"))
		w.Run("init").Want(0, strings.ToLower(cli.Source)+" v0.1.0")
		if lock := w.Read(".terraform.lock.hcl"); strings.Count(lock, "\nprovider ") != 1 || !strings.Contains(lock, source) {
			t.Errorf("the lock file has other entries: %s", lock)
		}
		w.MustRun("plan")
		removeAll(t, w.Path(".terraform*"))
	}
	install("installing/filesystem-mirror.tfrc", "/srv/terraform/providers", filepath.ToSlash(tree.Mirror))
	w.MustRun("providers", "lock", "-fs-mirror="+tree.Mirror, "-platform="+platform)
	w.MustRun("init", "-lockfile=readonly")
	removeAll(t, w.Path(".terraform*"))
	if runtime.GOOS != "linux" { // elsewhere, Go does not read SSL_CERT_FILE
		return
	}
	ca := streamstest.NewAuthority(t)
	pair := ca.Issue(t, "127.0.0.1")
	certificate, err := tls.X509KeyPair([]byte(pair.CertPEM), []byte(pair.KeyPEM))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.StripPrefix("/providers/", http.FileServer(http.Dir(tree.Mirror))))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	w.Write("ca.pem", ca.CertPEM)
	w.Setenv("SSL_CERT_FILE=" + w.Path("ca.pem"))
	install("infrastructure/mirror.tfrc", "https://mirror.example.com", server.URL)
}

// TestAccMakeDev follows the output of make dev in a folder with the lock file of another build.
func TestAccMakeDev(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "", "")
	out, err := exec.CommandContext(t.Context(), "make", "-C", "..", "dev").CombinedOutput()
	lines := regexp.MustCompile(`(?m)^  dev_overrides \{ ".*" = ".*" \}\n  direct \{\}\n(?s:.*)^  export (TF_CLI_CONFIG_FILE=.*)$`)
	printed := lines.FindSubmatch(out)
	if err != nil || printed == nil {
		t.Fatalf("make dev: %v\n%s", err, out)
	}
	host := cli.Hosts[0]
	if cli.IsTofu(w.Program) {
		host = cli.Hosts[1]
	}
	w.Write(".terraform.lock.hcl", "provider \""+host+"/"+strings.ToLower(cli.Source)+"\" {\n  version = \"0.0.1\"\n"+
		"  hashes  = [\"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"]\n}\n")
	w.Configure(clitest.RequireProvider + "resource \"stream_processors\" \"this\" {\n  stream_id     = \"cam-1\"\n  processor_ids = []\n}\n")
	w.Setenv(string(printed[1]), "STREAM_BASE_URL=http://127.0.0.1:1")
	w.MustRun("plan")
}
