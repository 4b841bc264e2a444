package acceptance

import (
	"fmt"
	"strconv"
	"strings"
)

// this is the address of the one resource in many configurations.
const this = "stream_processors.this"

const (
	cam1p1 = `
resource "stream_processors" "this" {
  stream_id     = "cam-1"
  processor_ids = ["p1"]
}
`
	cam1p1p2 = `
resource "stream_processors" "this" {
  stream_id     = "cam-1"
  processor_ids = ["p1", "p2"]
}
`
	getCam1   = `GET /v2/streams/cam-1`
	patchCam1 = `PATCH /v2/streams/cam-1 {"processor_ids":["p1","p2"]}`
)

// quickRetry makes a failed attempt cost next to no time.
const quickRetry = `
provider "stream" {
  retry = { max_attempts = 3, min_backoff = "1ms", max_backoff = "5ms" }
}
`

// withProvider is a provider block with the given body, and one resource.
func withProvider(body string) string {
	return "provider \"stream\" {\n" + body + "\n}\n" + cam1p1
}

// withDetectDrift makes the provider read for the given resources, and make one attempt for each request.
func withDetectDrift(resources string) string {
	return `
provider "stream" {
  detect_drift = true
  retry        = { max_attempts = 1 }
}
` + resources
}

// oneResource has the resource at the address this.
func oneResource(attributes string) string {
	return quickRetry + "resource \"stream_processors\" \"this\" {\n" + attributes + "\n}\n"
}

// resourceForEach has a resource for each stream, all with the same attributes.
func resourceForEach(ids []string, attributes string) string {
	return oneResource(fmt.Sprintf("for_each = toset(%s)\nstream_id = each.key\n%s", hclList(ids), attributes))
}

// addressOf is the address of a resource of resourceForEach.
func addressOf(id string) string { return fmt.Sprintf("%s[%q]", this, id) }

// forEachAddress maps the addresses of resourceForEach to the same text.
func forEachAddress(ids []string, text string) map[string]string {
	texts := map[string]string{}
	for _, id := range ids {
		texts[addressOf(id)] = text
	}
	return texts
}

// fleet has n resources, by count, for the streams of fleetIDs.
func fleet(n int) string {
	return fmt.Sprintf(`
resource "stream_processors" "this" {
  count         = %d
  stream_id     = "cam-${count.index + 1}"
  processor_ids = ["p1"]
}
`, n)
}

func fleetIDs(n int) []string {
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprintf("cam-%d", i+1))
	}
	return ids
}

// hclList writes texts as a list expression.
func hclList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = hclString(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func hclString(text string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(text))
}
