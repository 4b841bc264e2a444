package acceptance

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// Ways to authenticate that are wired from variables, of which all but one are null: validate does not know them, a plan knows
// some, and an apply all. It needs clitest for validate, and for several runs of one folder.
func TestAccSchemesFromVariables(t *testing.T) {
	t.Parallel()
	tokens := httptest.NewServer(&streamstest.TokenServer{ClientID: "me", ClientSecret: "s"})
	t.Cleanup(tokens.Close)
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, "")
	w.Write("credentials/main.tf", "variable \"token\" {\n  type = string\n}\noutput \"token\" {\n  value = var.token\n}\n")
	w.Write("token", "of-file\n")
	w.Configure(fmt.Sprintf(`
variable "token" {
  type    = string
  default = null
}
variable "token_file" {
  type    = string
  default = null
}
variable "basic_auth" {
  type    = object({ username = optional(string), password = optional(string) })
  default = null
}
variable "client_secret" {
  type    = string
  default = null
}
variable "headers" {
  type    = map(string)
  default = null
}
variable "set" {
  type = string
}
module "credentials" {
  source = "./credentials"
  token  = var.token
}
provider "stream" {
  token      = module.credentials.token
  token_file = var.token_file
  basic_auth = var.basic_auth
  oauth2     = var.client_secret == null ? null : {
    token_url = %q, client_id = "me", client_secret = var.client_secret, client_assertion = var.token
  }
  headers    = var.headers
}
`, tokens.URL) + resourceOf("this", "cam-1", "var.set", ""))
	w.MustRun("init")
	w.MustRun("validate")
	for i, test := range []struct{ variables, want []string }{
		{[]string{"token=of-variable"}, []string{"Bearer of-variable"}},
		{[]string{"token_file=token"}, []string{"Bearer of-file"}},
		{[]string{`basic_auth={"username":"me","password":"p"}`}, []string{"Basic bWU6cA=="}},
		{[]string{"client_secret=s"}, []string{"Bearer token-1"}},
		{[]string{`headers={"Authorization":"ApiKey k"}`}, []string{"ApiKey k"}},
		{[]string{"token=of-variable", "basic_auth={}", `headers={"Authorization":null,"X-Other":""}`}, []string{"Bearer of-variable"}},
	} {
		variables := []string{"-var", fmt.Sprintf("set=p%d", i)}
		for _, variable := range test.variables {
			variables = append(variables, "-var", variable)
		}
		service.ForgetRequests()
		w.MustApply(variables...)
		var sent []string
		for _, request := range service.Requests() {
			sent = append(sent, request.Header.Get("Authorization"))
		}
		if fmt.Sprint(sent) != fmt.Sprint(test.want) {
			t.Errorf("%s: the requests had %q, want %q", test.variables, sent, test.want)
		}
	}

	service.ForgetRequests()
	two := []string{"-var=set=p9", "-var=token_file=token", `-var=headers={"authorization":"ApiKey k"}`}
	w.Plan(two...).Want(1, `headers["authorization"] and token_file are two ways to authenticate`)
	service.WantRequests(t)

	w.Edit("main.tf", "token      = module.credentials.token", `token      = terraform_data.new.id == "" ? "" : var.token`)
	w.Write("new.tf", "resource \"terraform_data\" \"new\" {\n  triggers_replace = var.set\n}\n")
	w.MustRun("validate")
	basic := `-var=basic_auth={"username":"me","password":"p"}`
	w.Plan("-out=tfplan", "-var=set=p8", basic).Want(2)
	service.WantRequests(t)
	w.MustApply("tfplan")
	service.WantRequests(t, updateOf("cam-1", `"p8"`))
	w.Plan("-out=tfplan", "-var=set=p9", basic, "-var=token=late").Want(2)
	w.Apply("tfplan").Want(1, "basic_auth and token are two ways to authenticate")
	service.WantRequests(t)
}

// With -chdir, a relative path does not begin where the user types: the error has the absolute path, and says how to write another
// one. It needs clitest for -chdir.
func TestAccSecretFileElsewhere(t *testing.T) {
	t.Parallel()
	_, url := streamstest.Start(t, streamstest.Options{Authorize: streamstest.Bearer("t0k$n")}, streamstest.Streams("cam-1")...)
	w := newWorkspace(t, url, "")
	w.Write("token", "t0k$n\n")
	w.Write("live/main.tf", clitest.RequireProvider+providerWith(`token_file = "token"`)+resourceOf("this", "cam-1", `"p1"`, ""))
	w.MustRun("-chdir=live", "init")
	r := w.Run("-chdir=live", "apply", "-auto-approve").Want(1, "Error: Authentication Error",
		"of token_file cannot be used: no such file or directory.",
		`write an absolute path, in Terraform "${path.cwd}/…".`)
	if path := w.Path("live/token"); !strings.Contains(strings.ReplaceAll(r.Text(), " ", ""), strconv.Quote(path)) {
		t.Errorf("no %s in %v", path, r)
	}
	w.Edit("live/main.tf", `"token"`, `"${path.cwd}/token"`)
	w.MustRun("-chdir=live", "apply", "-auto-approve")
}
