package report

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/session"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Plan returns the diagnostics of a plan.
func (r *Reporter) Plan(of Subject, c session.Change, p session.Planned) diag.Diagnostics {
	diags := r.refusedCall(c, p.Refusal)
	if p.Refusal == 0 && c.Elsewhere && (c.Kind != session.Destroy || c.Detach) {
		diags.Append(r.deploymentChanges(c))
	}
	return append(diags, r.Reads(of, p.Read, r.once(p.Findings), Plan)...)
}

// onceInPlan are warnings of which a session shows the first one. Which resource has the others depends on the order of the plans,
// and Terraform counts no warnings of a destroy: a plan would print another text in another order.
var onceInPlan = []claims.Warning{claims.StreamChangesHands, claims.StreamIsDuplicated, claims.MayBeEmpty}

// once leaves out the warnings of onceInPlan that the session has shown.
func (r *Reporter) once(findings []session.Finding) []session.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f session.Finding) bool {
		if !slices.Contains(onceInPlan, f.Warning) {
			return false
		}
		_, isFirst := r.first(f.Warning, f.Stream)
		return !isFirst
	})
}

// Apply returns the diagnostics of an apply.
func (r *Reporter) Apply(ctx context.Context, of Subject, c session.Change, a session.After) diag.Diagnostics {
	failed, closing := 0, ""
	messages := messagesOf(a.Findings, a.Done > 0, func(f session.Finding) task { return changing(of, c, a, f) })
	logBugs(ctx, a.Findings)
	for _, f := range a.Findings {
		if f.IsError() && f.Facts != nil {
			failed++
		}
	}
	if of != OneStream && a.Failed() {
		closing = fmt.Sprintf("%d of %d changes succeeded. %s", a.Done, a.Done+failed, nowInState(c, a))
	}
	return append(r.refusedCall(c, a.Refusal), r.diagnostics(of, messages, closing)...)
}

// How to leave a stream without a request.
const (
	leaveByGroup = "To leave {the stream|the streams} without a request, set on_destroy = \"keep\" in the group, and run the command again."
	leaveByState = "To leave {the stream|the streams} without a request, remove the resource from the state with terraform state rm. " +
		"The next apply creates it again if the configuration still has it."
	keepFirst      = "Or first apply on_destroy = \"keep\", with the stream_id that the state has; then destroy or replace the resource."
	keepGroupFirst = "Or first apply on_destroy = \"keep\", with only {this stream|these streams} in the group; then destroy the group."
)

// keepBefore returns how an apply before the one that leaves a stream makes that leave it without a request, or "". The configuration
// does not have an old object, and a set that is sent again fails as well.
func keepBefore(of Subject, a session.After) string {
	unsettled := func(e *claims.Entry) bool { return e.Resend != claims.Settled }
	switch {
	case a.OldObject, slices.ContainsFunc(slices.Collect(maps.Values(a.Kept)), unsettled):
		return ""
	case of != OneStream:
		return keepGroupFirst
	}
	return keepFirst
}

const ifMissing = "If {the stream has|the streams have} just been created, run the command again. If {it is|they are} new, create " +
	"{it|them} in the service first. If {it was|they were} deleted, remove {it|them} from the configuration."

// changing is what an operation in the apply of a change was to do. Without an operation, streams were read.
func changing(of Subject, c session.Change, a session.After, f session.Finding) task {
	if f.Facts == nil {
		return reading(Plan)
	}
	t := task{failed: "the processors of {streams} could not be updated", Reader: Reader{missing: ifMissing}}
	switch _, stays := c.Want[f.Stream]; {
	case !stays:
		t.toLeave = join(" ", leaveByState, keepBefore(of, a))
		if c.Kind == session.Edit {
			t.toLeave = leaveByGroup
		}
		t.failed, t.missing = "the processors of {streams} could not be detached", ""
	case c.Kind == session.Create:
		t.failed = "the processors of {streams} could not be set"
	}
	outcome, _ := f.Now()
	mayHaveProcessors := outcome != streams.NotChanged || f.Facts.Remainder.Len() > 0
	if c.Kind == session.Create && of == OneStream && mayHaveProcessors { // a group says it once
		t.next = notSaved
	}
	return t
}

// nowInState says what a failed change leaves in the state of a group.
func nowInState(c session.Change, a session.After) string {
	switch {
	case c.Kind == session.Create:
		return notSaved
	case c.Kind == session.Destroy:
		return "The state has only the streams that failed. " + runAgain + "."
	case c.Elsewhere && a.Done == 0:
		return "The state is still that of the former deployment."
	case a.Done == 0:
		return runAgain + "."
	}
	return "The state has what succeeded. " + runAgain + " to send the rest."
}

// Invoke returns the diagnostics of an action.
func (r *Reporter) Invoke(ctx context.Context, refusal session.CallRefusal, failed []session.Finding) diag.Diagnostics {
	logBugs(ctx, failed)
	messages := messagesOf(failed, false, func(f session.Finding) task {
		return task{
			failed: "the processors of {streams} could not be set",
			Reader: Reader{missing: ifMissing},
			next: "The next apply may not run the action again. To run it, use terraform apply -invoke=ADDRESS with " +
				"the address of the action.",
		}
	})
	return append(r.refusedCall(session.Change{}, refusal), r.diagnostics(OneStream, messages, "")...)
}

// refusedCall returns the error of a change that is refused as a whole.
func (r *Reporter) refusedCall(c session.Change, refusal session.CallRefusal) diag.Diagnostics {
	if refusal == session.NotDetachable {
		return diag.Diagnostics{r.notDetachable(c)}
	}
	diags := CannotRead(refusal, Plan)
	if refusal == session.NeedsReads {
		diags[0] = diag.WithPath(path.Root("on_create"), diags[0])
	}
	return diags
}

const deploymentChanged = "The Deployment Has Changed"

// stateIsOf says whose state it is, and what is configured.
func (r *Reporter) stateIsOf(c session.Change) string {
	return fmt.Sprintf("The state is that of deployment %q, and the provider is configured for deployment %q.",
		c.Deployment, r.configured)
}

// deploymentChanges is the same for all resources, so that Terraform shows it once.
func (r *Reporter) deploymentChanges(c session.Change) diag.Diagnostic {
	return diag.NewWarningDiagnostic(deploymentChanged, paragraphs(
		r.stateIsOf(c),
		fmt.Sprintf("The apply sends the sets to %q. Streams at %q keep their processors.", r.configured, c.Deployment),
		sameDeployment(c)))
}

// sameDeployment is for one deployment with two addresses, such as that of a tunnel: the simplest case, and the most frequent one.
func sameDeployment(c session.Change) string {
	return fmt.Sprintf("If both are the same deployment, set deployment = %q in the provider block.", c.Deployment)
}

// notDetachable names a stream: in an apply, Terraform does not name the resource.
func (r *Reporter) notDetachable(c session.Change) diag.Diagnostic {
	if c.Deployment == "" {
		return diag.NewErrorDiagnostic("Deployment Not Known to the State", paragraphs(
			fmt.Sprintf("The resource with stream %q cannot detach its processors.", c.Was.Without(nil)[0]),
			"The state does not have the deployment: the resource was moved or imported, and has not been refreshed.",
			fmt.Sprintf("If the provider is configured for the right one, run terraform apply -refresh-only, which records "+
				"deployment %q. Otherwise, configure the right one first.", r.configured),
			nothingSent+notChangedHere))
	}
	return diag.NewErrorDiagnostic(deploymentChanged, paragraphs(
		fmt.Sprintf("The resource with stream %q cannot detach its processors.", c.Was.Without(nil)[0]),
		r.stateIsOf(c),
		sameDeployment(c),
		"Otherwise, to detach the processors, configure the former deployment. To take the set to the other deployment first, apply "+
			"without the destroy. To leave the processors attached, set on_destroy = \"keep\" and apply, or use a removed block with "+
			"destroy = false.",
		"If the resource is tainted, use terraform untaint. If it is the old object of a replacement that did not end, use terraform "+
			"state rm, and apply.",
		nothingSent+notChangedHere))
}

// UnexpectedChange is the error, once, of a stream that has another terminal or fragment type than the plan promised.
func UnexpectedChange(id, name, old, now string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root(name), "Unexpected Change of the Stream", paragraphs(
		fmt.Sprintf("The processors of stream %q were set, but its %s changed from %s to %s.", id, name, old, now),
		"The state has the new value. Run the command again, to update the resources that depend on it.",
		nowTrue(streams.Changed, nil)))
}

// ImportNotRead returns the warning of imports without detect_drift, once in a session.
func (r *Reporter) ImportNotRead() (diags diag.Diagnostics) {
	const summary = "Imported Streams Were Not Read"
	if _, isFirst := r.first(summary, ""); isFirst { // Terraform does not count the warnings of imports
		diags.AddWarning(summary, paragraphs(
			"No import of this run reads its stream, so no plan shows which processors the apply detaches.",
			"To see them in a plan, set detect_drift = true, if the deployment serves GET /v2/streams/{id}. Otherwise, ask the operators "+
				"of the service before you apply."))
	}
	return diags
}

// NotReadYet is the warning of a provider block for which detect_drift reads nothing yet.
func NotReadYet() diag.Diagnostic {
	return diag.NewWarningDiagnostic("Streams Were Not Read", paragraphs(
		"The plan shows neither changes made outside Terraform, nor which processors a create or an import detaches: "+valueNotKnown,
		applyValueFirst))
}
