package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

const (
	leaveGroup = "Streams Leave the Group"
	ifNotMeant = "If this is not meant, check the file, folder or variable that the streams come from. To leave the processors attached, " +
		"set on_destroy = \"keep\" in the group."

	withoutReads = "set detect_drift = false, or unset STREAM_DETECT_DRIFT."
	ifServed     = "If {the stream exists|the streams exist}, the deployment may no longer serve the reads of detect_drift: " + withoutReads
	toDestroy    = "To destroy without reads, add -refresh=false to terraform destroy."
)

var warnings = [claims.WarningCount]text{
	claims.ResendingUnknown: {"Outcome of an Earlier Operation Unknown", "",
		"An earlier operation on {streams} may or may not have taken effect, so the apply sends the {set|sets} again.", ""},
	claims.StreamChangesHands: {"Stream Changes Hands", "",
		"One resource of this plan leaves {streams}, and another one has {it|them}; there may be more such streams. They may have no " +
			"processors until the other resource is applied or, with create_before_destroy or after an interrupted apply, until it " +
			"sends its set again.",
		"If a resource was renamed, or has another key of for_each, use a moved block. Otherwise, to pass a stream on without a gap, " +
			"set on_destroy = \"keep\" on the resource that leaves, and apply that change first. In doubt, change a value in triggers of " +
			"the resource that has the stream."},
	claims.StreamIsDuplicated: {"Two Resources Have the Stream", "",
		"Two resources of this plan have {streams}, with the same {set|sets}; there may be more such streams. A change of only one " +
			"of them will be refused.",
		"Let one resource manage {the|each} stream. To remove the other one without a request, use a removed block with destroy = false."},
	claims.MayBeEmpty: {"Stream May Be Without Processors", "stream_id",
		"The resource of {streams} is replaced, because its stream_id is known only after apply; there may be more such streams. If " +
			"the id stays the same, the {stream has|streams have} no processors until the create, unless the lifecycle block has " +
			"create_before_destroy = true, which the provider cannot see.",
		"If the stream may be created again under this id, set triggers to a value that differs each time the stream is created: " +
			"otherwise the stream stays empty after an apply with -target, and no plan shows it. Then, to avoid the gap, first apply what " +
			"the id comes from, with terraform apply -target=ADDRESS. Or set create_before_destroy = true in the lifecycle block, or set " +
			"on_destroy = \"keep\" and apply that change first."},
	claims.WillBeDetached: {"Processors Will Be Detached", "processor_ids",
		"{streams} {has|have} processors that are not in the planned {set|sets}, and the apply detaches them: {own}.",
		"To keep them, add them to the {set|sets}. If another configuration manages them, let only one manage " +
			"{the stream|each stream}."},
	claims.MayBeDetached: {"Processors May Be Detached", "processor_ids",
		"{streams} could not be read at this deployment, so the plan cannot show what the apply detaches.", ""},
	claims.CreateWillFail: {"Create Will Fail", "stream_id", // does not block each plan and destroy
		"The refresh of this run did not find {streams}, so the planned create will fail.",
		"Remove {the stream|the streams} from the configuration, correct {its id|their ids}, or create {the stream|the streams} in " +
			"the service first, with terraform apply -target=ADDRESS if the same apply creates {it|them}. " + ifServed + " " + toDestroy},

	claims.ImportIsLeft: {"Processors Stay Attached", "",
		"The resource was imported with {streams}. If it leaves {the stream|one of them} in this apply, nothing is sent to {it|that stream}, " +
			"and the processors stay attached: nothing is detached after an import until an apply, with a refresh, has written the state.",
		"To detach them then: apply a stream_processors resource with this stream_id and processor_ids = [], and then remove that resource."},
	claims.LeavesGroup: {leaveGroup, "",
		"{streams} {leaves|leave} the group ({count}), and the apply detaches {its|their} processors, except where another resource has " +
			"the stream: {own}.",
		ifNotMeant},
	claims.MayLeaveGroup: {leaveGroup, "",
		"Which streams the group has is known only after apply. Those of the state that it does not have then leave the group, and the " +
			"apply detaches their processors, except where another resource has the stream.",
		ifNotMeant},

	claims.WereDetached: {"Processors Were Detached", "",
		"The destroy of a replaced object has detached the processors of {streams}. Terraform did not tell the " +
			"destroy which other resources have {it|them}.",
		"If another resource has {the stream|one of the streams}, change a value in its triggers, and apply that change."},
	claims.DetachedForAMoment: {"Processors Were Detached for a Moment", "",
		"In this run, another resource, or the old object of this one, detached the processors of {streams} before this resource " +
			"attached its {set|sets}. A set from a data source that was read in between lacks what was attached before.",
		"To avoid the gap for many streams, set on_destroy = \"keep\" on the resources that leave, and apply that change first, which " +
			"sends nothing. For a few renamed resources or for_each keys, add moved blocks, also for what the ids come from. For a " +
			"resource whose stream_id is known only after apply, set create_before_destroy = true in the lifecycle block."},
	claims.StayAttached: {"Processors Stay Attached", "",
		"An earlier replacement left the destroyed object behind, and another resource may have {streams} now. So " +
			"the destroy sent nothing, and the {stream|streams} may still have the processors of the object: {own}.",
		"To detach them, if no resource has {the stream|a stream}: apply a stream_processors resource with this stream_id and " +
			"processor_ids = [], and then remove that resource."},
	claims.StayAttachedBesideFailure: {"Processors Stay Attached", "",
		"A resource left {streams} to {another resource|other resources}, which failed. {The stream|The streams} may still have " +
			"processors: {own}.",
		"Resolve the {error of the other resource|errors of the other resources}, then run the command again."},

	claims.NotFoundOnDestroy: {"Stream Not Found", "",
		"{streams} could not be found.",
		"If {it exists|they exist} at another address, {it keeps its|they keep their} processors: check base_url."},

	claims.Gone: {"Stream Is Gone", "",
		"The service does not know {streams} any more. The state drops {it|them} when this run is applied.", ifServed},
	claims.NotListed: {"Stream Not Found", "",
		"The service does not know {streams}, so {it is|they are} not listed.",
		"If {it exists|they exist}, the deployment may not serve the reads of detect_drift."},
}

var refusals = map[claims.Refusal]text{
	claims.ConflictingSets: {"Conflicting Processor Sets", "processor_ids",
		"Two resources set the processors of {streams}: {own}. Each update replaces the whole set.",
		"Let one resource manage {the|each} stream, with all processors, and remove the stream from the other one."},
	claims.StreamIsKept: {"Another Resource Keeps the Stream", "", // the group has nothing of its plan in the apply
		"A group drops {streams}, and would leave these processors attached: {own}. Another resource keeps " +
			"{the stream|these streams} with another set, and would send nothing: its state would become untrue.",
		"Change a value in triggers of the other resource in the same apply, so that it sends its set. If both have " +
			"the same set, on_destroy = \"keep\" in the group is enough."},
	claims.DetachesOthers: {"Processors Would Be Detached", "processor_ids",
		"{streams} {has|have} processors that are not in the planned {set|sets}: {own}. The apply would detach them, and " +
			"on_create is \"refuse\".",
		"To keep them, add them to the {set|sets}. To detach them, set on_create = \"replace\". If a resource was renamed, add a moved " +
			"block. If no resource has {the stream|the streams}, adopt {it|them} with an import block. " + toDestroy},
	claims.ImportDiffers: {"Imported Stream Differs", "stream_id",
		"{streams} {was|were} imported into a resource whose configuration does not have {it|them}.",
		"If the import is wrong, correct the {id|ids} in the import block; after terraform import, remove the resource from the state " +
			"with terraform state rm, and import again. If the configuration is wrong, correct it. If the change is meant, first apply the " +
			"import, with a refresh, while the configuration has the {stream that was|streams that were} imported: that sends nothing, or " +
			"the configured {set|sets}."},
	claims.Blocked: {"Update Skipped", "", "An operation of another resource on {this stream|these streams} has failed.",
		"The state has the former values of the other resource, which a change by this resource could make untrue. " +
			"Resolve the error of the other resource, then run the command again."},
}

// messagesOf are the messages of the findings of a call. others says that some of its operations have succeeded.
func messagesOf(findings []session.Finding, others bool, taskOf func(session.Finding) task) (messages []message) {
	accepted := requests.NotAccepted
	for _, f := range findings {
		if f.Err != nil {
			accepted = max(accepted, asStreamError(f.Err).Accepted)
		}
	}
	if others { // of the same kind, perhaps only after the failure
		accepted = requests.AcceptedUpdates
	}
	for _, f := range findings {
		t := taskOf(f)
		t.others, t.accepted = others, accepted
		messages = append(messages, messageOf(f, t))
	}
	return messages
}

// messageOf is the message of a finding: a warning, a refusal, or the failure of a read or an operation.
func messageOf(f session.Finding, t task) message {
	if p, ok := errors.AsType[*session.Panic](f.Err); ok {
		bug := text{summary: bugSummary, head: t.failed + ". " + panicked(p), advice: reportBug}
		return message{cause: cause{text: bug, severity: diag.SeverityError}, stream: f.Stream, now: nowTrue(streams.Unknown, nil)}
	}
	if f.IsError() && f.Err != nil {
		return messageOfFailure(f, t)
	}
	m := message{stream: f.Stream}
	if f.Err != nil {
		m = messageOfError(f.Stream, asStreamError(f.Err))
	}
	m.text, m.severity, m.all = warnings[f.Warning], diag.SeverityWarning, f.Of
	if f.IsError() {
		m.text, m.severity, m.now = refusals[f.Decision.Refusal], diag.SeverityError, nothingSent+notChangedHere
	}
	if strings.Contains(m.head, "{own}") {
		m.own = ownOf(f)
	}
	switch {
	case f.Warning == claims.StayAttachedBesideFailure, f.Warning == claims.NotFoundOnDestroy:
		m.now = nowTrue(f.Now())
	case f.Decision.Refusal == claims.DetachesOthers:
		m.now = "No update was sent. " + notChangedHere
	case f.Decision.Refusal == claims.ImportDiffers && f.Configured != "":
		m.reason = fmt.Sprintf("The configuration has stream %q.", f.Configured)
	case f.Decision.Refusal == claims.Blocked:
		m.head = t.failed + ". " + m.head
		m.now = nothingSent + nowTrue(f.Now())
	}
	if f.IsError() {
		m.short = join(" ", m.happened(1), m.reason)
	}
	return m
}

// ownOf returns the sets that a finding is about.
func ownOf(f session.Finding) string {
	switch {
	case f.Decision.Refusal == claims.ConflictingSets:
		sets := []string{f.Decision.Other.String(), f.Decision.Set.String()}
		slices.Sort(sets) // which one is planned first depends on the order of the calls
		return fmt.Sprintf("one to %s, another one to %s", sets[0], sets[1])
	case f.Warning == claims.WillBeDetached, f.Warning == claims.LeavesGroup, f.Decision.Refusal == claims.DetachesOthers:
		return f.Shown // the service has reported them
	case f.Warning != 0 && f.Decision.Other.Len() == 0: // nobody has read them
		return "not known"
	}
	return f.Decision.Other.String()
}
