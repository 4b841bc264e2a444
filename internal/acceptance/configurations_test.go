package acceptance

import (
	"encoding/json"
	"fmt"
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
		name, hcl(streamID), set, others)
}

// resourceForEach has a resource for each stream, all with the same set and other attributes.
func resourceForEach(ids []string, set, others string) string {
	return fmt.Sprintf("resource \"stream_processors\" \"this\" {\n  for_each      = toset(%s)\n  stream_id     = each.key\n"+
		"  processor_ids = [%s]\n  %s\n}\n", hcl(ids), set, others)
}

// groupOf is a group with these streams, and other attributes.
func groupOf(streams map[string]string, others string) string {
	text := "resource \"stream_processors_group\" \"this\" {\n  streams = {\n"
	for id, set := range streams {
		text += fmt.Sprintf("    %s = [%s]\n", hcl(id), set)
	}
	return text + "  }\n  " + others + "\n}\n"
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

// hcl writes a text, a list or a map of them as an expression.
func hcl(value any) string {
	encoded, _ := json.Marshal(value) // JSON is HCL, except for templates
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(string(encoded))
}
