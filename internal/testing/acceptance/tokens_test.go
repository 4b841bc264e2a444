package acceptance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// oddTokens look wrong in some way, and each of them may be right.
var oddTokens = []string{
	"k8$Zp!x", "Qz(7w]kL2", "a=b=c", "STREAM_TOKEN=x", "${TOKEN}", "$(cat", "{{token}}", "vault://secret/x", "<token>", `it's"half`,
	`\d\\`, "#1,;*~^&|`", "%41%zz",
}

// Whatever a token looks like, each scheme that has one sends it as it is. Nobody but the service knows whether it is right. The
// test needs clitest for the variable, and for several runs of one folder.
func TestAccOddTokens(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("variable", "block", "file")...)
	w := newWorkspace(t, url, "")
	for _, token := range oddTokens {
		w.Configure(providerWith("alias = \"block\"\n  token = "+hcl(token)) + providerWith("alias = \"file\"\n  token_file = \"token\"") +
			resourceOf("variable", "variable", "", fmt.Sprintf("triggers = { token = %s }", hcl(token))) +
			resourceOf("block", "block", "", fmt.Sprintf("provider = stream.block\n  triggers = { token = %s }", hcl(token))) +
			resourceOf("file", "file", "", fmt.Sprintf("provider = stream.file\n  triggers = { token = %s }", hcl(token))))
		w.Write("token", token+"\n")
		w.Setenv("STREAM_TOKEN=" + token)
		service.ForgetRequests()
		w.Apply("-refresh=false").Want(0)
		var sent []string
		for _, r := range service.Requests() {
			sent = append(sent, r.Header.Get("Authorization"))
		}
		if want := slices.Repeat([]string{"Bearer " + token}, 3); !slices.Equal(sent, want) {
			t.Errorf("sent %q, want %q", sent, want)
		}
	}
}
