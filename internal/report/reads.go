package report

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/session"
)

// Reader is who reads streams, with what a person can do about the reads. The texts are clauses and sentences with the placeholders of
// a [text], and may be empty.
type Reader struct {
	refused  string // the summary of the error without detect_drift
	without  string // what to do without detect_drift
	unserved string // what to do where the deployment serves no reads
	missing  string // what to do if the stream does not exist
	toLeave  string // how the command does without the request
}

// The readers.
var (
	Refresh = Reader{unserved: withoutReads, toLeave: "To plan or destroy without reads, add -refresh=false.",
		missing: "The state keeps {the stream|the streams}, because it has no record of a read of this resource that found a stream at " +
			"this base_url. If {the stream is|the streams are} really gone, remove {it|them} from the configuration, and add -refresh=false " +
			"to terraform apply or terraform destroy."}
	Plan = Reader{"Streams Cannot Be Checked", `set on_create = "replace". ` + toDestroy, withoutReads, // which a resource takes over
		"If the same apply creates {the stream|the streams}, create {it|them} first with terraform apply -target=ADDRESS, or " +
			"take {its id|their ids} from an attribute that is known after apply. " + toDestroy, ""}
	Import      = Reader{unserved: withoutReads}
	GroupImport = Reader{"Group Cannot Be Imported", withoutGroupImport, withoutGroupImport, "", ""}
	DataSource  = Reader{"Streams Cannot Be Read", withoutDataSource, withoutDataSource, "", ""}
	Query       = Reader{"Streams Cannot Be Listed", withoutQuery, withoutQuery, "", ""}
)

const (
	valueNotKnown   = "a value in the provider block is not known yet."
	applyValueFirst = "First apply the resource that the value comes from, such as with terraform apply -target=ADDRESS."

	withoutDataSource  = "remove the data source: the state of a resource has the set that was sent last."
	withoutQuery       = "write the resources by hand."
	withoutGroupImport = "remove the import, and apply the group: a create sends each set once."
)

// reading is what a reader was to do.
func reading(by Reader) task {
	return task{failed: "{streams} could not be read", Reader: by}
}

// Reads returns the diagnostics of the reads of a number of streams.
func (r *Reporter) Reads(of Subject, streams int, findings []session.Finding, by Reader) diag.Diagnostics {
	failed, closing := 0, ""
	for _, f := range findings {
		if f.Err != nil {
			failed++
		}
	}
	if read := streams - failed; failed > 0 && read > 0 {
		closing = fmt.Sprintf("%d of %d streams were read.", read, streams)
	}
	messages := messagesOf(findings, len(findings) < streams, func(session.Finding) task { return reading(by) })
	return r.diagnostics(of, messages, closing)
}

// CannotRead returns the error of a reader if the session reads no streams.
func CannotRead(refusal session.CallRefusal, by Reader) (diags diag.Diagnostics) {
	now := notChangedByRead
	if by == Plan {
		now = nothingSent + notChangedHere
	}
	switch refusal {
	case session.NotConfigured:
		diags.AddError("Provider Configuration Not Known", paragraphs(
			"The streams could not be read or set: "+valueNotKnown,
			applyValueFirst+" If that does not exist any more, write the value itself into the provider block.",
			now))
	case session.NeedsReads:
		diags.AddError(by.refused, paragraphs(
			"The interface specifies no read, so the provider reads streams only with detect_drift.",
			"If the deployment serves GET /v2/streams/{id}, set detect_drift = true. Otherwise "+by.without,
			now))
	}
	return diags
}
