package examples

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/testing/clitest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// TestAccPaste plans each configuration of the rendered pages in a folder that has nothing but the terraform block, the
// files that the page shows, and what the reader has: values of variables, tokens and certificates.
func TestAccPaste(t *testing.T) {
	t.Parallel()
	service, url := startService(t, streamstest.Options{ServeGet: true})
	empty := newWorkspace(t, "", url)
	empty.Setenv("TF_VAR_token=t0ken", "TF_VAR_password=pass", "TF_VAR_client_secret=s3cret", "TF_VAR_api_key=k3y",
		`TF_VAR_cameras={"cam-1"=["face-blur"]}`,
		"TFC_WORKLOAD_IDENTITY_TOKEN_STREAM=t0ken")
	pair := streamstest.NewAuthority(t).Issue(t, "terraform")
	for name, content := range map[string]string{"ca.pem": pair.CertPEM, "client.pem": pair.CertPEM, "client.key": pair.KeyPEM} {
		empty.Write(name, content)
	}
	empty.Write("versions.tf", read(t, "fleet/versions.tf"))
	empty.MustRun("init")
	t.Run("pages", func(t *testing.T) {
		for page := range pages(t) {
			for _, part := range parts(t, page) {
				for i, c := range configurations(t, page, part.anchor) {
					t.Run(fmt.Sprintf("%s#%s/%d", page, part.anchor, i+1), func(t *testing.T) {
						t.Parallel()
						c.plan(t, empty)
					})
				}
			}
		}
	})
	for _, r := range service.Requests() {
		if r.Method != http.MethodGet {
			t.Errorf("a plan has sent %s", r)
		}
	}
}

// configuration is what a page tells its reader to write.
type configuration struct {
	files map[string]string // by name
	drift bool              // the page says to set STREAM_DETECT_DRIFT
}

// plan plans the configuration in a copy of the folder, or runs its query.
func (c configuration) plan(t *testing.T, empty *clitest.Workspace) {
	t.Helper()
	text, command := "", "plan"
	for name, content := range c.files {
		text += "\n" + content
		if strings.HasSuffix(name, ".tfquery.hcl") {
			command = "query"
		}
	}
	if !supports(t, text) {
		t.Skip("the configuration needs a newer CLI")
	}
	w := empty.Copy(t)
	w.Setenv(fmt.Sprintf("STREAM_DETECT_DRIFT=%t", c.drift))
	if strings.Contains(text, "\nterraform {\n") {
		removeAll(t, w.Path("versions.tf"))
	}
	for name, content := range c.files {
		w.Write(name, withoutEphemeral(t, content))
	}
	w.MustRun(command)
}

var (
	fenced   = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	fileName = regexp.MustCompile("(?s)(?:^|\n)`([^`\n]+)`:\\s*$")
	addedTo  = regexp.MustCompile(`(?s)\b[Aa]dd.*\]\(([^)#]*)#([^)]+)\)|\]\(([^)#]*)#([^)]+)\).*\badd\b`)
)

// configurations returns those below a heading of a page:
//
//   - A block after the name of a file is that file. Each configuration below the heading has the files that are no HCL.
//   - A block that the page adds to a section, with a link, continues the first configuration there.
//   - A block with nothing but a provider goes in place of that of the first page, and the page has to say so.
//   - Any other block is main.tf.
func configurations(t *testing.T, page, anchor string) (found []configuration) {
	t.Helper()
	body, data := "", map[string]string{}
	for _, p := range parts(t, page) {
		if p.anchor == anchor {
			body = p.body
		}
	}
	before := 0
	for _, at := range fenced.FindAllStringSubmatchIndex(body, -1) {
		intro, language, content := body[before:at[0]], body[at[2]:at[3]], body[at[4]:at[5]]
		before = at[1]
		name := ""
		if named := fileName.FindStringSubmatch(intro); named != nil {
			name = named[1]
		}
		c := configuration{map[string]string{}, strings.Contains(intro, "STREAM_DETECT_DRIFT=true")}
		link := addedTo.FindStringSubmatch(intro[max(strings.LastIndex(strings.TrimSpace(intro), "\n\n"), 0):])
		switch {
		case language != "terraform":
			if name != "" {
				data[name] = content
			}
			continue
		case strings.HasPrefix(name, "tests/"): // TestAccShellBlocks runs it
			continue
		case name != "":
			c.files[name] = content
		case link != nil:
			other := page
			if file := link[1] + link[3]; file != "" {
				other = path.Join(path.Dir(page), file)
			}
			maps.Copy(c.files, configurations(t, other, link[2]+link[4])[0].files)
			c.files["added.tf"] = content
		case !regexp.MustCompile(`(?m)^(resource|data|list|action|import) `).MatchString(content):
			if !strings.Contains(strings.Join(strings.Fields(read(t, path.Join("../docs", page))), " "), "in place of the `provider` block") {
				t.Errorf("%s does not say where this block goes:\n%s", page, content)
			}
			c.files["main.tf"] = inPlaceOfProvider(t, read(t, "provider/provider.tf"), content)
		default:
			c.files["main.tf"] = content
		}
		found = append(found, c)
	}
	for _, c := range found {
		maps.Copy(c.files, data)
	}
	return found
}

// part is a heading of a page with the text until the next one.
type part struct{ anchor, body string }

func parts(t *testing.T, page string) (found []part) {
	t.Helper()
	inBlock := false
	for line := range strings.Lines(pages(t)[page]) {
		if strings.HasPrefix(line, "```") {
			inBlock = !inBlock
		}
		if strings.HasPrefix(line, "#") && !inBlock {
			found = append(found, part{anchor: anchor(strings.TrimLeft(strings.TrimSpace(line), "# "))})
		} else if found != nil {
			found[len(found)-1].body += line
		}
	}
	return found
}
