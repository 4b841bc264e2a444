package acceptance

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

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
	service, address := streamstest.Start(t, streamstest.Options{}, streamstest.Streams(ids...)...)
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		scheme, where, _ := strings.Cut(r.StreamID, "-")
		echo := secrets[scheme] + " | " + r.Header.Get("Authorization")
		switch where {
		case "message":
			return &streamstest.Fault{Status: 401, Message: echo}
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
	apply := w.Apply("tfplan").Want(1, "Error: Authentication Error", "Error: Unexpected Answer", "***")
	seen["apply"], seen["the log"], seen["the state"] = apply.String(), w.Read("log"), w.Read("terraform.tfstate")
	streamstest.WantText(t, seen["the log"], "Access-Control-Allow-Origin: *") // the headers are logged, too
	attempts := regexp.MustCompile(`\[DEBUG\] provider\..*: stream service request: .*duration_ms=`).FindAllString(seen["the log"], -1)
	requests := append(service.Requests(), tokens.Requests()...)
	if len(attempts) != len(requests) {
		t.Errorf("the log has %d attempts of %d", len(attempts), len(requests))
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
