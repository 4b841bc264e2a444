package main

import "github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"

// step is a list of commands and their expected result.
type step struct {
	title    string
	note     string             // printed before the commands
	from, to string             // an edit of the configuration, before the commands; to is appended if from is empty
	undo     bool               // undo the edit after the commands
	env      string             // a variable for the commands, as NAME=value
	others   streamstest.Stream // what another client makes of a stream, before the commands
	commands [][]string
	fails    bool     // the last command ends with an error
	requests []string // what the service receives, in any order
	shows    string
}

var steps = []step{
	{
		title: "Install the provider",
		note: "The lock file already has the checksum of this build, as if somebody had\n" +
			"run \"providers lock\". Otherwise init warns that a build from a folder has\n" +
			"a checksum for one platform only.",
		commands: [][]string{{"init"}},
		shows:    "The provider of this source tree is installed.",
	},
	{
		title:    "Plan",
		commands: [][]string{{"plan", "-out=next.tfplan"}},
		shows:    "A plan sends no request.",
	},
	{
		title:    "Apply",
		commands: [][]string{{"apply", "next.tfplan"}},
		requests: []string{
			`PATCH /v2/streams/gate {"processor_ids":["object-detection","people-counter"]} → 200`,
			`PATCH /v2/streams/loading {"processor_ids":["object-detection","plate-reader"]} → 200`,
			`PATCH /v2/streams/parking {"processor_ids":["object-detection"]} → 200`,
		},
		shows: "One request for each stream. Each stream has its processors.",
	},
	{
		title:    "Change the processors of one camera",
		from:     `    gate    = ["object-detection", "people-counter"]`,
		to:       `    gate    = ["object-detection", "face-blur"]`,
		commands: [][]string{{"plan", "-out=next.tfplan"}, {"apply", "next.tfplan"}},
		requests: []string{`PATCH /v2/streams/gate {"processor_ids":["face-blur","object-detection"]} → 200`},
		shows:    "One request with the whole new set. The stream is never without processors.",
	},
	{
		title:    "Reorder the processors of another camera",
		from:     `    loading = ["object-detection", "plate-reader"]`,
		to:       `    loading = ["plate-reader", "object-detection"]`,
		commands: [][]string{{"plan", "-detailed-exitcode"}}, // fails if there is a change
		shows:    "The order does not matter: no change, no request.",
	},
	{
		title:    "Misspell a processor",
		from:     `    parking = ["object-detection"]`,
		to:       `    parking = ["object-detektion"]`,
		undo:     true,
		commands: [][]string{{"apply", "-auto-approve"}},
		fails:    true,
		requests: []string{`PATCH /v2/streams/parking {"processor_ids":["object-detektion"]} → 400`},
		shows:    "The service does not know the id. The error says so. Nothing was changed.",
	},
	{
		title:    "Find a change that somebody else made",
		note:     "Another client attaches face-blur to the stream parking, instead of\nobject-detection.",
		others:   streamstest.Stream{ID: "parking", ProcessorIDs: []string{"face-blur"}},
		env:      "STREAM_DETECT_DRIFT=true",
		commands: [][]string{{"plan", "-out=next.tfplan"}, {"apply", "next.tfplan"}},
		requests: []string{
			`GET /v2/streams/gate → 200`,
			`GET /v2/streams/loading → 200`,
			`GET /v2/streams/parking → 200`,
			`PATCH /v2/streams/parking {"processor_ids":["object-detection"]} → 200`,
		},
		shows: "With detect_drift, a plan reads the streams. The apply repairs parking.",
	},
	{
		title: "Let two resources fight over one stream",
		to: `
resource "stream_processors" "guard" {
  stream_id     = "parking"
  processor_ids = ["plate-reader"]
}
`,
		undo:     true,
		commands: [][]string{{"plan"}},
		fails:    true,
		shows:    "The plan refuses: each apply would undo the other resource's set.",
	},
	{
		title:    "Destroy",
		commands: [][]string{{"destroy", "-auto-approve"}},
		requests: []string{
			`PATCH /v2/streams/gate {"processor_ids":[]} → 200`,
			`PATCH /v2/streams/loading {"processor_ids":[]} → 200`,
			`PATCH /v2/streams/parking {"processor_ids":[]} → 200`,
		},
		shows: "The processors are detached. The streams still exist.",
	},
}
