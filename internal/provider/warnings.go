package provider

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// warningText is a warning about one stream. {other} in the detail stands for a set.
type warningText struct{ summary, detail, advice string }

// with fills {other} in.
func (w warningText) with(other string) warningText {
	w.detail = strings.ReplaceAll(w.detail, "{other}", other)
	return w
}

// about returns the warning. The summary has the id, because Terraform merges warnings with equal summaries, and shows
// the details of only one.
func (w warningText) about(id string, more ...string) diag.Diagnostic {
	detail := paragraphs(append([]string{w.detail, w.advice}, more...)...)
	return diag.NewWarningDiagnostic(fmt.Sprintf("%s: stream %q", w.summary, id), detail)
}

const (
	detachedForAMoment = "Processors May Be Detached for a Moment"
	avoidMoment        = "To avoid such a gap for many streams, set on_destroy = \"keep\" on the resources that leave, and apply that " +
		"change first: one apply, which sends nothing. For a few renamed resources or for_each keys, add a moved block for each."
	createdFirst = "If this resource has create_before_destroy, set on_destroy = \"keep\" and apply that change first, or remove " +
		"create_before_destroy. Otherwise, ignore this warning."
)

// planWarnings has the texts of the warnings of plans.
var planWarnings = [claims.WarningCount]warningText{
	claims.ResendingUnknown: {"Outcome of an Earlier Operation Unknown",
		"An earlier update or destroy of this stream failed, and may or may not have taken effect. The processors of the stream may " +
			"differ from the state, so this plan sends the set again.", ""},
	claims.Resending: {"Set May Be Sent Again", // an apply that plans this resource first sends nothing
		"Another resource of this plan has the same stream, and will be destroyed or move to another stream. If Terraform does that " +
			"first, it leaves the stream with {other}, and this resource sends its set again without a change of its configuration.", ""},
	claims.DetachedFirst: {detachedForAMoment,
		"Another resource of this plan leaves this stream and detaches its processors. Terraform may run that operation before it " +
			"applies this resource, and the stream has no processors in between.",
		avoidMoment},
	claims.DroppedFirst: {detachedForAMoment,
		"This group drops the stream and detaches its processors, and another resource of this plan sets the processors. Terraform " +
			"may run the update of this group first, and the stream has no processors in between.",
		"To keep the processors attached throughout, set on_destroy = \"keep\" in this group, in the same apply."},
	claims.MarkMayBeLost: {detachedForAMoment,
		"This resource moves to another stream, and another resource of this plan takes this stream over. If this resource has " +
			"create_before_destroy, the destroy of the old object may detach the processors before the other resource is applied.",
		createdFirst},
	claims.MarkMayBeLostToState: {"Another Resource Has the Stream",
		"This resource moves to another stream, and another resource keeps this stream with its processors. But if this resource " +
			"has create_before_destroy, the destroy of the old object detaches the processors, and the state of the other resource " +
			"becomes untrue.",
		createdFirst},
	claims.DropUnknown: {"Another Resource Has the Stream",
		"The streams of a group of this plan are known after apply, and the state of the group has this stream. If the group drops " +
			"the stream, the apply may detach the processors, and the state of the other resource becomes untrue.",
		"Let only single sets of the group depend on other resources."},
	claims.MayBeLeftBehind: {"Another Resource Has the Stream",
		"This plan destroys an object with this stream, and another resource keeps the stream with its processors. An earlier apply " +
			"may have replaced the object, and not have ended. If so, and if this apply also creates resources or the destroy has failed before, then the " +
			"destroy may detach the processors, and the state of the other resource becomes untrue.",
		"If an earlier apply did not end, change a value in triggers of the other resource in the same apply: then the stream gets " +
			"its set. Otherwise, ignore this warning."},
}

// staysAttached is for a resource that left its stream to another one, which could not be applied.
var staysAttached = warningText{"Processors Stay Attached",
	"The destroy sent nothing, because this run was to set the processors of the stream again. That failed, so the stream may " +
		"still have the processors of the destroyed object: {other}. Apply again.", ""}

// leftAttached is for an old object whose stream another resource may have.
var leftAttached = warningText{"Processors Stay Attached",
	"The destroyed object had been replaced before, with create_before_destroy, and another resource may have the stream now. So the " +
		"destroy sent nothing, and the stream may still have the processors of the old object: {other}.",
	"If no resource has the stream, and it must not keep the processors, apply a stream_processors resource with this stream_id and " +
		"processor_ids = [], and then remove that resource."}

// unforeseenDetach is for the destroy of an object that was replaced, if Terraform asked for no plan of the destroy, or asked
// in the apply.
var unforeseenDetach = warningText{"Processors Were Detached",
	"An object that was replaced had this stream, and its destroy has detached the processors. Terraform passes nothing from the " +
		"plan to the destroy of an object that is tainted, replaced with -replace, or has create_before_destroy, so the destroy did " +
		"not know resources with this stream that this apply does not change.",
	"If another resource has the stream, change a value in its triggers and apply again."}

// wereDetached is for a stream that a resource has left in this apply, with the empty set, before another one set it. The
// plan could not always know: an id that is known after apply may turn out to be that of the stream.
var wereDetached = warningText{"Processors Were Detached for a Moment",
	"In this run, a resource left this stream and detached its processors, and this resource attached its set afterwards. " +
		"In between, the stream had no processors.",
	avoidMoment}

var detachedByCreate = warningText{"Processors Will Be Detached",
	"The stream has processors that are not in the planned set, and the apply detaches them: {other}. To keep them, add " +
		"them to the set. If another configuration manages them, let only one configuration manage the stream.", ""}

// createOfGone keeps a stream that is gone from blocking each plan and destroy.
var createOfGone = warningText{"Create Will Fail",
	"The refresh of this run found that the service does not know this stream any more, so the planned create will fail. " +
		"Remove the stream from the configuration, correct its id, or create the stream in the service first.", ""}

var (
	streamGone = warningText{"Stream Is Gone", "The service does not know this stream any more. The stream was removed from the state.", ""}
	notListed  = warningText{"Stream Not Found", "The service does not know this stream, so the stream is not listed.", ""}
)

// notRead is about all imports: Terraform does not count the warnings of imports.
var notRead = diag.NewWarningDiagnostic("Imported Streams Were Not Read", paragraphs(
	"The imports read nothing, so no plan shows which processors the apply detaches: it sends the configured sets, and detaches "+
		"everything else. This warning is about all imports of the run.",
	"To see it in a plan, set detect_drift = true, if the deployment serves GET /v2/streams/{id}. Otherwise, ask the operators of "+
		"the service for the sets before you apply."))

func notFoundOnDestroy(id string, e *streams.Error) diag.Diagnostic {
	found := "The service does not know this stream at this address."
	if !e.Documented {
		found = "The response to the destroy was 404 Not Found, but does not have the form of the service's own errors."
	}
	found += " The stream was removed from the state. If it exists, its processors are still attached: check base_url."
	return warningText{"Stream Not Found", found, ""}.about(id, requestAndResponse(e), nowTrue(e.Outcome, e.Stream))
}
