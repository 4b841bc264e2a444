package acceptance

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// At another address, both resources are updated in place, with all of their sets, also from a saved plan. Until then, no
// destroy sends anything or forgets a resource. The former address gets no request. A saved plan of a create goes to the
// address of the apply. It needs clitest for the saved plans.
func TestAccDeploymentChanges(t *testing.T) {
	t.Parallel()
	const changed = "The Deployment Has Changed"
	ids := fleetIDs(3)
	former, formerURL := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	config := resourceOf("this", "cam-1", `"p1"`, "") + groupOf(sets(ids[1:], `"p1"`), "")
	w := newWorkspace(t, url, config)
	w.Plan("-out=tfplan").Want(2, "2 to add")
	w.Setenv("STREAM_BASE_URL=" + formerURL)
	w.MustApply("tfplan")
	before := w.MustRun("show").Stdout
	former.ForgetRequests()

	w.Setenv("STREAM_BASE_URL="+url, "STREAM_DEPLOYMENT="+formerURL)
	w.Plan().Want(0)
	w.Setenv("STREAM_DEPLOYMENT=")
	w.Plan("-destroy").Want(1, "Error: "+changed, "Nothing was sent")
	// Terraform asks for no plan of these destroys.
	replaced := w.Apply("-replace="+this, "-replace="+group).Want(1, "Nothing was sent")
	if strings.Count(replaced.Text(), "Error: "+changed) != 2 {
		t.Errorf("not two errors: %v", replaced)
	}
	if diff := cmp.Diff(before, w.MustRun("show").Stdout); diff != "" || strings.Count(before, formerURL) != 2 {
		t.Errorf("the state has changed (-before +after):\n%s", diff)
	}

	r := w.Plan("-out=tfplan").Want(2, "0 to add, 2 to change, 0 to destroy", fmt.Sprintf("%q -> %q", formerURL, url),
		fmt.Sprintf("sends the sets to %q", url), "keep their processors", fmt.Sprintf("set deployment = %q", formerURL))
	if strings.Count(r.Text(), "Warning: "+changed) != 1 {
		t.Errorf("not one warning: %v", r)
	}
	service.WantRequests(t)
	w.MustApply("tfplan")
	service.WantRequests(t, updatesOf(sets(ids, `"p1"`))...)
	if after := w.MustRun("show").Stdout; strings.Count(after, url) != 2 || strings.Contains(after, formerURL) {
		t.Errorf("the state has another deployment: %s", after)
	}
	w.Plan().Want(0)
	former.WantRequests(t)
}

// Logs, plans, states and diagnostics have no secret, even if the service sends the secrets back.
// It needs clitest for all that a CLI writes.
func TestAccSecretsStaySecret(t *testing.T) {
	t.Parallel()
	// However a secret is escaped, the letters in the middle stay the same.
	secrets := map[string]string{"token": "eyJ0Vb5gN1cF/~+=", "oauth2": `c"&<Yh4nR8sT>\ü+/ %2`}
	parts := []string{"Vb5gN1cF", "Yh4nR8sT", "token-1"}
	tokens := &streamstest.TokenServer{ClientID: "me", ClientSecret: secrets["oauth2"]}
	tokenServer := httptest.NewServer(tokens)
	t.Cleanup(tokenServer.Close)
	config, ids := "", []string{}
	for scheme, block := range map[string]string{
		"token":  `token = file("token")`,
		"oauth2": fmt.Sprintf(`oauth2 = { token_url = %q, client_id = "me", client_secret = file("oauth2") }`, tokenServer.URL),
	} {
		config += providerWith(fmt.Sprintf("alias = %q\n  retry = { min_backoff = \"1ms\" }\n  %s", scheme, block))
		for _, where := range []string{"good", "message", "success", "extra"} {
			id := scheme + "-" + where
			ids = append(ids, id)
			config += resourceOf(id, id, `"p1"`, "provider = stream."+scheme)
		}
	}
	// Package http writes what comes after the end of a response to the standard logger.
	strays := map[string]string{"204": "204 No Content\r\n", "304": "304 Not Modified\r\n", "length": "403 Forbidden\r\nContent-Length: 2\r\n"}
	for name, head := range strays {
		name = "stray-" + name
		stray := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			_, _ = io.WriteString(conn, "HTTP/1.1 "+head+"\r\n{}"+r.Header.Get("Authorization"))
		}))
		t.Cleanup(stray.Close)
		config += providerWith(fmt.Sprintf("alias = %q\n  base_url = %q\n  token = file(\"token\")", name, stray.URL)) +
			resourceOf(name, name, `"p1"`, "provider = stream."+name)
	}
	service, address := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		scheme, where, _ := strings.Cut(r.StreamID, "-")
		echo := secrets[scheme] + " | " + r.Header.Get("Authorization")
		switch where {
		case "message":
			return &streamstest.Fault{Status: 401, Message: echo, Header: http.Header{"Www-Authenticate": {echo}}}
		case "success":
			return &streamstest.Fault{Body: &echo}
		case "extra":
			return &streamstest.Fault{Edit: func(s *streamstest.Stream) { s.ProcessorIDs = append(s.ProcessorIDs, echo) }}
		}
		return nil
	})
	w := newWorkspace(t, address, config)
	for name, secret := range secrets {
		w.Write(name, secret)
	}
	w.Setenv("TF_LOG=TRACE", "TF_LOG_PATH="+w.Path("log"))

	seen := map[string]string{"plan": w.Plan("-out=tfplan").String(), "show tfplan": w.Run("show", "-json", "tfplan").Stdout}
	apply := w.Apply("tfplan").Want(1, "Error: Authentication Error", "Error: Unexpected Answer", "WWW-Authenticate: *** | Bearer ***")
	seen["apply"], seen["the log"], seen["the state"] = apply.String(), w.Read("log"), w.Read("terraform.tfstate")
	attempts := regexp.MustCompile(`\[DEBUG\] provider\..*: stream service request: .*duration_ms=`).FindAllString(seen["the log"], -1)
	requests := append(service.Requests(), tokens.Requests()...)
	if sent := len(requests) + len(strays); len(attempts) != sent {
		t.Errorf("the log has %d attempts of %d", len(attempts), sent)
	}
	for _, r := range requests {
		if _, credentials, found := strings.Cut(r.Header.Get("Authorization"), "Basic "); found {
			parts = append(parts, credentials)
		}
	}
	for where, text := range seen {
		if text == "" {
			t.Errorf("%s is empty", where)
		}
		for _, part := range parts {
			if i := strings.Index(text, part); i >= 0 {
				t.Errorf("%s: %q is shown: …%s…", where, part, text[max(0, i-200):min(len(text), i+200)])
			}
		}
	}
}

var (
	quotedID = regexp.MustCompile(`cam-\d+`)
	similar  = regexp.MustCompile(`\(and (\d+) more similar warnings elsewhere\)`)
)

// What a person reads when 60 streams are in one plan is short, counts right and says what to do, and -json has the rest.
// It needs clitest for the exact output.
func TestAccFleetOutput(t *testing.T) {
	t.Parallel()
	ids := fleetIDs(60)
	seeds := streamstest.Streams(ids...)
	for i := range seeds {
		seeds[i].ProcessorIDs = []string{"old"}
	}
	_, url := streamstest.Start(t, streamstest.Options{ServeGet: true, Authorize: streamstest.Bearer("t0ken")}, seeds...)
	w := newWorkspace(t, url, providerWith(`token = "wr0ng"`)+
		"provider \"stream\" {\n  alias    = \"down\"\n  base_url = \"http://127.0.0.1:1\"\n  retry = { max_attempts = 2 }\n}\n"+
		resourceForEach(ids[:30], `"p1"`, "")+
		strings.Replace(resourceForEach(ids[30:], `"p1"`, "provider = stream.down"), `"this"`, `"down"`, 1))

	// Errors: a wrong token, and an outage.
	failed := w.Apply().Want(1)
	blocks := strings.Split(failed.Stderr, "\nError: ")[1:]
	long := 0
	for _, block := range blocks {
		if strings.Count("Error: "+block, "\n") > 12 { // a terminal adds one more line
			long++
		}
		streamstest.WantText(t, strings.Join(strings.Fields(block), " "), " could not be set", " Check ", "The stream was not changed.")
	}
	if len(blocks) != len(ids) || long > 4 { // one for each cause
		t.Errorf("%d errors, %d of them long: %v", len(blocks), long, failed)
	}

	// wantWarnings checks how many warnings of a kind a command shows in full, and that the others are counted.
	wantWarnings := func(what, out, kind string, full, others int) {
		t.Helper()
		got := strings.Count(out, "Warning: "+kind+`: stream "`)
		if counted := similar.FindAllStringSubmatch(out, -1); got != full || strings.Count(out, "Warning: "+kind+": more streams") != 1 ||
			len(counted) != 1 || counted[0][1] != fmt.Sprint(others-1) {
			t.Errorf("%s: %d warnings in full, and %v, want %d, and %d more", what, got, counted, full, others-1)
		}
	}
	w.Configure(providerWith("token = \"t0ken\"\n  detect_drift = true") + resourceForEach(ids, `"p1"`, ""))
	const lost = "Processors Will Be Detached"
	wantWarnings("plan", w.MustRun("plan", "-out=tfplan").Stdout, lost, 20, 40)

	// The apply also shows the first in full; -json names every stream with what it loses.
	var named []string
	full := 0
	for line := range strings.Lines(w.MustRun("apply", "-json", "tfplan").Stdout) {
		if strings.Contains(line, `"@level":"warn"`) && strings.Contains(line, lost) {
			streamstest.WantText(t, line, `the apply detaches them: [\"old\"].`)
			named = append(named, quotedID.FindString(line[strings.Index(line, lost):]))
			if strings.Contains(line, lost+`: stream `) {
				full++
			}
		}
	}
	slices.Sort(named)
	if named = slices.Compact(named); len(named) != len(ids) || full > 20 {
		t.Errorf("%d streams are named, %d in full", len(named), full)
	}
}
