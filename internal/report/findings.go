package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/session"
)

// text is what a message says of any stream. attribute is that of one stream; "" for none. In head, {streams} stands
// for the stream, or for the number of streams, and {own} for what is its own, such as a set of processors.
type text struct{ summary, attribute, head, advice string }

const (
	avoidMoment = "To avoid the gap for many streams, set on_destroy = \"keep\" on the resources that leave, and " +
		"apply that change first, which sends nothing. For a few renamed resources or for_each keys, add moved blocks."
	ifDestroy = "If this is terraform destroy, add -refresh=false."
)

var texts = [claims.WarningCount]text{
	claims.ResendingUnknown: {"Outcome of an Earlier Operation Unknown", "",
		"An earlier operation on this stream may or may not have taken effect, so this plan sends the set again.", ""},
	claims.StreamChangesHands: {"Stream Changes Hands", "",
		"One resource of this plan leaves this stream, and another one has the stream. The destroy may detach the processors: until " +
			"the other resource is applied, or, with create_before_destroy or after an interrupted apply, until it sends its set again.",
		"To pass a stream on without a gap, use a moved block, or set on_destroy = \"keep\" on the resource that leaves, and apply that " +
			"change first. In doubt, change a value in triggers of the resource that has the stream."},
	claims.WillBeDetached: {"Processors Will Be Detached", "processor_ids",
		"The stream has processors that are not in the planned set, and the apply detaches them: {own}.",
		"To keep them, add them to the set. If another configuration manages them, let only one manage the stream."},
	claims.MayBeDetached: {"Processors May Be Detached", "processor_ids",
		"The stream could not be read at this deployment, so the plan cannot show what the apply detaches.", ""},
	claims.CreateWillFail: {"Create Will Fail", "stream_id", // does not block each plan and destroy
		"The refresh of this run found no such stream, so the planned create will fail.",
		"Remove the stream from the configuration, correct its id, or create the stream in the service first."},

	claims.WereDetached: {"Processors Were Detached", "",
		"The destroy of a replaced object has detached the processors of this stream. Terraform did not tell the " +
			"destroy which other resources have the stream.",
		"If another resource has the stream, change a value in its triggers and apply again."},
	claims.DetachedForAMoment: {"Processors Were Detached for a Moment", "", // a stream id was known after apply
		"In this run, another resource detached the processors of this stream before this one attached its set.",
		avoidMoment},
	claims.StayAttached: {"Processors Stay Attached", "",
		"An earlier replacement left the destroyed object behind, and another resource may have the stream now. So " +
			"the destroy sent nothing, and the stream may still have the processors of the object: {own}.",
		"To detach them, if no resource has the stream: apply a stream_processors resource with this stream_id and " +
			"processor_ids = [], and then remove that resource."},
	claims.StayAttachedBesideFailure: {"Processors Stay Attached", "",
		"The destroy left the stream to another resource, which failed. The stream may still have {own}.",
		"Resolve the error of the other resource, then apply again: it sends its set."},

	claims.NotFoundOnDestroy: {"Stream Not Found", "",
		"{streams} could not be found.",
		"If it exists at another address, it keeps its processors: check base_url."},

	claims.Gone: {"Stream Is Gone", "",
		"The service does not know this stream any more. The state drops it when this run is applied.", ""},
	claims.NotListed: {"Stream Not Found", "stream_ids",
		"The service does not know this stream, so it is not listed.", ""},
}

var refusals = map[claims.Refusal]text{
	claims.ConflictingSets: {"Conflicting Processor Sets", "processor_ids",
		"Two resources set the processors of {streams}: {own}. Each update replaces the whole set.",
		"Let one resource manage the stream, with all processors, and remove the stream from the other one."},
	claims.StreamIsKept: {"Another Resource Keeps the Stream", "", // the group has nothing of its plan in the apply
		"A group drops {streams}, and would leave these processors attached: {own}. Another resource keeps the " +
			"stream with another set, and would send nothing: its state would become untrue.",
		"Change a value in triggers of the other resource in the same apply, so that it sends its set. If both have " +
			"the same set, on_destroy = \"keep\" in the group is enough."},
	claims.DetachesOthers: {"Processors Would Be Detached", "processor_ids",
		"{streams} {has} processors that are not in the planned set: {own}. The apply would detach them, and " +
			"on_create is \"refuse\".",
		"To keep them, add them to the set. To detach them, set on_create = \"replace\". If the resource was renamed, add a moved " +
			"block. If no resource has it, adopt the stream with an import block. " + ifDestroy},
	claims.Blocked: {"Stream Left Alone", "", "An operation of another resource on this stream has failed.",
		"The state has the former values of the other resource, which a change by this resource could make untrue. " +
			"Resolve the error of the other resource, then apply again."},
}

// ofDestroys are the warnings of a resource that leaves a stream.
var ofDestroys = []claims.Warning{
	claims.WereDetached, claims.StayAttached, claims.StayAttachedBesideFailure, claims.NotFoundOnDestroy,
}

// messageOf is the message of a finding: a warning, a refusal, or the failure of a read or an operation.
func messageOf(f session.Finding, did attempted) message {
	if f.IsError() && f.Err != nil {
		return failure(f, did)
	}
	m := message{text: texts[f.Warning], stream: f.Stream, severity: diag.SeverityWarning, cause: fmt.Sprint(f.Warning)}
	m.inDestroy = slices.Contains(ofDestroys, f.Warning)
	if f.IsError() {
		m.text, m.severity, m.cause = refusals[f.Decision.Refusal], diag.SeverityError, fmt.Sprint("refusal ", f.Decision.Refusal)
		m.now = nothingSent + notChanged
	}
	if strings.Contains(m.head, "{own}") {
		m.own = ownOf(f)
	}
	if f.Err != nil {
		m.said = requestAndResponse(asStreamError(f.Err))
	}
	switch {
	case f.Warning == claims.StayAttachedBesideFailure:
		m.now = nowTrue(f.Now())
	case f.Warning == claims.NotFoundOnDestroy:
		e := asStreamError(f.Err)
		m.now = nowTrue(e.Outcome, e.Stream)
	case f.Decision.Refusal == claims.ConflictingSets: // nobody knows in a plan whether the other resource has been applied
		m.now = nothingSent + notChangedHere
	case f.Decision.Refusal == claims.DetachesOthers:
		m.now = "No update was sent. " + notChangedHere
	case f.Decision.Refusal == claims.Blocked:
		m.head = did.failed + ". " + m.head
		m.now = nothingSent + nowTrue(f.Now())
	}
	return m
}

// ownOf returns the sets that a finding is about.
func ownOf(f session.Finding) string {
	switch {
	case f.Decision.Refusal == claims.ConflictingSets:
		return fmt.Sprintf("one to %s, another one to %s", f.Decision.Other, f.Decision.Set)
	case f.Warning == claims.WillBeDetached, f.Decision.Refusal == claims.DetachesOthers:
		return f.Shown // the service has reported them
	case f.Warning != 0 && f.Decision.Other.Len() == 0: // nobody has read them
		return "not known"
	}
	return f.Decision.Other.String()
}
