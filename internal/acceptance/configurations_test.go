package acceptance

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The addresses of the one resource in many configurations.
const (
	this  = "stream_processors.this"
	group = "stream_processors_group.this"
)

// providerWith is a provider block.
func providerWith(body string) string { return "provider \"stream\" {\n  " + body + "\n}\n" }

// resourceOf is a resource with one stream, and other attributes.
func resourceOf(name, streamID, set, others string) string {
	return fmt.Sprintf("resource \"stream_processors\" %q {\n  stream_id     = %s\n  processor_ids = [%s]\n  %s\n}\n",
		name, hclString(streamID), set, others)
}

// resourceForEach has a resource for each stream, all with the same set and other attributes.
func resourceForEach(ids []string, set, others string) string {
	return fmt.Sprintf("resource \"stream_processors\" \"this\" {\n  for_each      = toset(%s)\n  stream_id     = each.key\n"+
		"  processor_ids = [%s]\n  %s\n}\n", hclList(ids), set, others)
}

// groupOf is a group with these streams, and other attributes.
func groupOf(name string, streams map[string]string, others string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "resource \"stream_processors_group\" %q {\n  streams = {\n", name)
	for _, id := range slices.Sorted(maps.Keys(streams)) {
		fmt.Fprintf(&b, "    %s = [%s]\n", hclString(id), streams[id])
	}
	fmt.Fprintf(&b, "  }\n  %s\n}\n", others)
	return b.String()
}

// sets gives streams one set.
func sets(ids []string, set string) map[string]string {
	streams := map[string]string{}
	for _, id := range ids {
		streams[id] = set
	}
	return streams
}

// updatesOf are the requests that give streams their sets.
func updatesOf(streams map[string]string) []string {
	var lines []string
	for id, set := range streams {
		lines = append(lines, updateOf(id, set))
	}
	return lines
}

func updateOf(id, set string) string {
	return fmt.Sprintf(`PATCH /v2/streams/%s {"processor_ids":[%s]}`, id, strings.ReplaceAll(set, ", ", ","))
}

// fleetIDs are the ids of n streams.
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
