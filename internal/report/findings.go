package report

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/session"
)

// text is what a message says of any stream. attribute is that of one stream; "" for none. In head, {streams} stands for the
// stream, or for the number of streams, and {own} for what is its own, such as a set of processors.
type text struct{ summary, attribute, head, advice string }

const (
	forAMoment  = "Processors May Be Detached for a Moment"
	avoidMoment = "To avoid such a gap for many streams, set on_destroy = \"keep\" on the resources that leave, and apply that " +
		"change first: one apply, which sends nothing. For a few renamed resources or for_each keys, add a moved block for each."
	createdFirst = "If this resource has create_before_destroy, set on_destroy = \"keep\" and apply that change first, or remove " +
		"create_before_destroy. Otherwise, ignore this warning."
	uncheckedReplacement  = "Replacement Cannot Be Checked"
	checkReplacementFirst = "Apply the source of the unknown value first, with terraform apply -target=ADDRESS. If the resource moves to " +
		"another stream, create_before_destroy helps, too, or on_destroy = \"keep\" in an apply of its own."
	ifDestroy = "If this is terraform destroy, add -refresh=false."
)

var texts = [claims.FindingCount]text{
	claims.ResendingUnknown: {"Outcome of an Earlier Operation Unknown", "",
		"An earlier update or destroy of this stream failed, and may or may not have taken effect. The processors of the stream may " +
			"differ from the state, so this plan sends the set again.", ""},
	claims.Resending: {"Set May Be Sent Again", "", // an apply that plans this resource first sends nothing
		"Another resource of this plan has the same stream, and will be destroyed or move to another stream. If Terraform does that " +
			"first, it leaves the stream with other processors, and this resource sends its set again without a change of its " +
			"configuration. The other processors: {own}.", ""},
	claims.DetachedFirst: {forAMoment, "",
		"A resource of this plan leaves this stream and detaches its processors, and another one sets them. Terraform may do the first " +
			"before the second, and the stream has no processors in between.",
		avoidMoment},
	claims.MarkMayBeLost: {forAMoment, "",
		"This resource moves to another stream, and another resource of this plan takes this stream over. If this resource has " +
			"create_before_destroy, the destroy of the old object may detach the processors before the other resource is applied.",
		createdFirst},
	claims.MarkMayBeLostToState: {"Another Resource Has the Stream", "",
		"This resource moves to another stream, and another resource keeps this stream with its processors. But if this resource " +
			"has create_before_destroy, the destroy of the old object detaches the processors, and the state of the other resource " +
			"becomes untrue.",
		createdFirst},
	claims.DropUnknown: {"Another Resource Has the Stream", "",
		"The streams of a group of this plan are known after apply, and the state of the group has this stream. If the group drops " +
			"the stream, the apply may detach the processors, and the state of the other resource becomes untrue.",
		"Let only single sets of the group depend on other resources."},
	claims.MayBeLeftBehind: {"An Old Object Has the Stream", "",
		"This plan destroys an object with this stream, while another resource keeps the stream. If an earlier apply has replaced the " +
			"object and left it behind (Terraform calls it deposed, with the address of the live resource), and this apply also creates " +
			"resources, the destroy may detach the processors, and the state of the live resource becomes untrue.",
		"Plan with a refresh, or change a value in triggers of the resource that keeps the stream, in the same apply: then the stream " +
			"gets its set. If no earlier apply was interrupted, ignore this warning."},
	claims.WillBeDetached: {"Processors Will Be Detached", "processor_ids",
		"The stream has processors that are not in the planned set, and the apply detaches them: {own}.",
		"To keep them, add them to the set. If another configuration manages them, let only one configuration manage the stream."},
	claims.OwnWillBeDetached: {"Processors Will Be Detached", "processor_ids",
		"The replacement of this resource detaches processors that are not in the planned set: {own}.",
		"If this resource has create_before_destroy, Terraform tells the apply nothing of the old object, and the apply refuses to detach " +
			"its processors, because on_create is \"refuse\". Then change the set first, without a replacement, or set on_create = \"replace\"."},
	claims.WillBeUnchecked: {uncheckedReplacement, "",
		"The stream or the set of the replacement is known after apply, and on_create is \"refuse\". Nobody can check whether the " +
			"replacement detaches the processors of others before the old object is destroyed, so the apply will refuse to destroy it.",
		checkReplacementFirst},
	claims.MayBeDetached: {"Processors May Be Detached", "processor_ids",
		"The stream could not be read at the deployment that is configured now, so this plan cannot show which processors the apply " +
			"detaches there.", ""},
	claims.CreateWillFail: {"Create Will Fail", "stream_id", // does not block each plan and destroy
		"The refresh of this run found that the service does not know this stream any more, so the planned create will fail.",
		"Remove the stream from the configuration, correct its id, or create the stream in the service first."},

	claims.WereDetached: {"Processors Were Detached", "",
		"An object that was replaced had this stream, and its destroy has detached the processors. Terraform passes nothing from the " +
			"plan to the destroy of an object that is tainted, replaced with -replace, or has create_before_destroy, so the destroy did " +
			"not know resources with this stream that this apply does not change.",
		"If another resource has the stream, change a value in its triggers and apply again."},
	claims.DetachedForAMoment: {"Processors Were Detached for a Moment", "", // an id that is known after apply may be that of the stream
		"In this run, a resource left this stream and detached its processors, and this resource attached its set afterwards. " +
			"In between, the stream had no processors.",
		avoidMoment},
	claims.StayAttached: {"Processors Stay Attached", "",
		"The destroyed object was one that a create_before_destroy had left behind, and another resource may have the stream now. So the " +
			"destroy sent nothing, and the stream may still have the processors of the old object: {own}.",
		"If no resource has the stream, and it must not keep the processors, apply a stream_processors resource with this stream_id and " +
			"processor_ids = [], and then remove that resource."},
	claims.StayAttachedBesideFailure: {"Processors Stay Attached", "",
		"The destroy left the stream to another resource, which could not be applied. The stream may still have the processors of this " +
			"resource: {own}.",
		"Resolve the error of the other resource, then apply again: it sends its set."},

	claims.NotFoundOnDestroy: {"Stream Not Found", "",
		"The service does not know {streams} at this address. If it exists, its processors are still attached: check base_url.", ""},

	claims.Gone: {"Stream Is Gone", "",
		"The service does not know this stream any more. This run goes on without it; the state drops it when the run is applied.", ""},
	claims.NotListed: {"Stream Not Found", "stream_ids", "The service does not know this stream, so the stream is not listed.", ""},
}

// warning is the message of a finding that is no error.
func warning(f session.Finding) message {
	m := message{text: texts[f.Kind], stream: f.Stream, severity: diag.SeverityWarning, cause: fmt.Sprint(f.Kind)}
	m.inDestroy = f.Kind >= claims.WereDetached && f.Kind <= claims.NotFoundOnDestroy
	if f.Err != nil {
		m.said = requestAndResponse(asStreamError(f.Err))
	}
	switch f.Kind {
	case claims.Resending, claims.StayAttached:
		m.own = "not known"
		if f.Other.Len() > 0 {
			m.own = f.Other.String()
		}
	case claims.WillBeDetached, claims.OwnWillBeDetached:
		m.own = f.Shown
	case claims.StayAttachedBesideFailure:
		m.own, m.now = f.Other.String(), nowTrue(f.Operation.Now())
	case claims.NotFoundOnDestroy:
		e := f.Operation.NotFound
		m.said, m.now = requestAndResponse(e), nowTrue(e.Outcome, e.Stream)
		if !e.Documented {
			m.cause, m.head = "404 of another form", "The response to the destroy of {streams} was 404 Not Found, but does not have the form "+
				"of the service's own errors. If it exists, its processors are still attached: check base_url."
		}
	}
	return m
}

var refusals = map[claims.Refusal]text{
	claims.ConflictingSets: {"Conflicting Processor Sets", "processor_ids",
		"Two resources set the processors of {streams}: {own}. Each update replaces the whole set, so the resource that is " +
			"applied last would win.",
		"Let one resource manage the stream, with all of its processors, and remove the stream from the other one."},
	claims.StreamIsKept: {"Another Resource Keeps the Stream", "", // Terraform calls only the group in the apply, and passes it nothing from its plan
		"A group of this plan drops {streams}, and would leave these processors attached: {own}. Another resource of this plan has " +
			"the stream too, with another set, and would send nothing: its state would become untrue.",
		"Change a value in triggers of the other resource in the same apply, so that the other resource sends its set. If both " +
			"resources have the same set, on_destroy = \"keep\" in the group is enough."},
	claims.DetachesOthers: {"Processors Would Be Detached", "processor_ids",
		"{streams} {has} processors that are not in the planned set: {own}. The apply would detach them, and on_create is \"refuse\".",
		"To keep them, add them to the set, or, if no object of the resource is in the state, adopt the stream with an import " +
			"block. To detach them, set on_create = \"replace\". If a resource was renamed, add a moved block. " + ifDestroy},
	claims.Unchecked: {uncheckedReplacement, "",
		"The replacement of {streams} takes a stream over, and its stream or its set was not known in the plan. Its create may be " +
			"refused, because on_create is \"refuse\". So the old object was not destroyed.",
		checkReplacementFirst},
	claims.Blocked: {"Stream Left Alone", "", "An operation of another resource on this stream has failed.",
		"The other resource is still in the state, with the values from before the failed operation, and a change by this " +
			"resource could make those values untrue. Resolve the error of the other resource, then apply again."},
}

// refused is the message of a refusal about one stream. happened is the clause of an operation.
func refused(f session.Finding, happened string) message {
	m := message{text: refusals[f.Refusal], stream: f.Stream, severity: diag.SeverityError, now: nothingSent + notChanged}
	m.cause = m.summary
	switch f.Refusal {
	case claims.ConflictingSets: // nobody knows in the plan of the second resource whether the first one has been applied
		m.own, m.now = fmt.Sprintf("one to %s, another one to %s", f.Other, f.Set), nothingSent+notChangedHere
	case claims.StreamIsKept:
		m.own = f.Other.String()
	case claims.DetachesOthers:
		m.own, m.now = f.Shown, "No update was sent. "+notChangedHere
	case claims.Blocked:
		m.head = happened + ". " + m.head
		m.now = nothingSent + nowTrue(f.Operation.Now())
	}
	return m
}
