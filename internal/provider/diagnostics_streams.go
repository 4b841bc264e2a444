package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Warnings about one stream have its id in the summary: Terraform merges warnings with equal summaries, and shows
// the details of only one.
func aboutStream(summary, id string) string { return fmt.Sprintf("%s: stream %q", summary, id) }

// planWarning is the warning of a plan. other is the set that it is about.
func planWarning(w claims.Warning, id string, other streams.ProcessorSet) diag.Diagnostic {
	const createdFirst = "If this resource has create_before_destroy, set on_destroy = \"keep\" and apply that change first, or " +
		"remove create_before_destroy."
	var summary, detail string
	switch w {
	case claims.OutcomeUnknown:
		summary = "Outcome of an Earlier Operation Unknown"
		detail = "An earlier update or destroy of this stream failed, and may or may not have taken effect. The processors of the " +
			"stream may differ from the state, so this plan sends the set again."
	case claims.SentAgain:
		summary = "Set Will Be Sent Again"
		detail = fmt.Sprintf("Another resource of this plan has the same stream, and will be destroyed or move to another stream. That "+
			"leaves the stream with %s, so this resource sends its set again, although its configuration did not change.", other)
	case claims.DetachedAWhile:
		summary = "Processors May Be Detached for a Moment"
		detail = paragraphs(
			"Another resource of this plan leaves this stream and detaches its processors. Terraform may run that operation before "+
				"it applies this resource, and the stream has no processors in between.",
			"If a resource was renamed, or its for_each key changed, add a moved block: then nothing is sent. Otherwise set "+
				"on_destroy = \"keep\" on the other resource, and apply that change first.")
	case claims.DropDetaches:
		summary = "Processors May Be Detached for a Moment"
		detail = paragraphs(
			"This group drops the stream and detaches its processors, and another resource of this plan sets the processors. "+
				"Terraform may run the update of this group first, and the stream has no processors in between.",
			"To keep the processors attached throughout, set on_destroy = \"keep\" in this group, in the same apply.")
	case claims.MarkMayBeLost:
		summary = "Processors May Be Detached for a Moment"
		detail = paragraphs(
			"This resource moves to another stream, and another resource of this plan takes this stream over. If this resource has "+
				"create_before_destroy, the destroy of the old object may detach the processors before the other resource is applied.",
			createdFirst)
	case claims.ReliedMarkMayBeLost:
		summary = "Another Resource Has the Stream"
		detail = paragraphs(
			"This resource moves to another stream, and another resource keeps this stream with its processors. But if this "+
				"resource has create_before_destroy, the destroy of the old object detaches the processors, and the state of the "+
				"other resource becomes untrue.", createdFirst)
	}
	return diag.NewWarningDiagnostic(aboutStream(summary, id), detail)
}

// droppedStreamError is for a stream that a group drops while another resource keeps it and sends nothing.
// Terraform calls only the group in the apply, and passes it nothing from its plan.
func droppedStreamError(s subject, id string, left streams.ProcessorSet) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(s.set(id), "Another Resource Keeps the Stream", paragraphs(
		fmt.Sprintf("A group of this plan drops stream %q, which would leave the stream with %s. Another resource of this plan has "+
			"the stream too, with another set, and would send nothing: its state would become untrue.", id, left),
		"Change a value in triggers of the other resource in the same apply, so that the other resource sends its set. If both "+
			"resources have the same set, on_destroy = \"keep\" in the group is enough.",
		s.words.Replace("Nothing was sent for this resource. ")+nowTrue(streams.NotChanged, nil),
	))
}

// staysAttachedWarning is for a departure that left its stream to a resource that could not be applied.
func staysAttachedWarning(id string, known claims.Known) diag.Diagnostic {
	return diag.NewWarningDiagnostic(aboutStream("Processors Stay Attached", id), paragraphs(
		fmt.Sprintf("The destroy sent nothing, because another resource of this run sets the processors of the stream. That "+
			"resource failed, so the stream may still have the processors of the destroyed resource: %s. Apply again.", known.Left),
		knownNow(known),
	))
}

// unseenDetachWarning is for the destroy of an object that has another stream than its replacement, if Terraform asked for
// no plan of the destroy, or asked in the apply.
func unseenDetachWarning(id string) diag.Diagnostic {
	return diag.NewWarningDiagnostic(aboutStream("Processors Were Detached", id),
		"A resource that is tainted, replaced with -replace, or has create_before_destroy had this stream, and its replacement does "+
			"not. Terraform does not ask for a plan of such a destroy before the apply, so the destroy has detached the processors "+
			"without knowing other resources of the stream. If another resource has the stream, change a value in its triggers and "+
			"apply again.")
}

func detachedByCreateWarning(s subject, id, detached string) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(s.set(id), aboutStream("Processors Will Be Detached", id), fmt.Sprintf(
		s.words.Replace("The stream has processors that are not in processor_ids, and the apply detaches them: %s. To keep them, add them to "+
			"processor_ids. If another configuration manages them, let only one configuration manage the stream."), detached))
}

func streamGoneWarning(s subject, id string) diag.Diagnostic {
	return diag.NewWarningDiagnostic(aboutStream("Stream Is Gone", id),
		s.words.Replace("The service does not know this stream any more. The resource was removed from the state."))
}

// createOfGoneStreamWarning keeps a stream that is gone from blocking each plan and destroy.
func createOfGoneStreamWarning(s subject, id string) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(s.stream(id), aboutStream("Create Will Fail", id), s.words.Replace(
		"The refresh of this run found that the service does not know this stream any more, so the planned create will fail. "+
			"Remove the resource from the configuration, correct stream_id, or create the stream in the service first."))
}

func notListedWarning(id string, err error) diag.Diagnostic {
	return diag.NewWarningDiagnostic(aboutStream("Stream Not Found", id), paragraphs(
		"The service does not know this stream, so the stream is not listed.", requestAndResponse(asStreamError(err))))
}

func notFoundOnDestroyWarning(s subject, id string, err error) diag.Diagnostic {
	e := asStreamError(err)
	text := "The service does not know this stream at this address, and the resource was removed from the state. If the stream " +
		"exists at another address, its processors are still attached: check base_url."
	if !e.Documented {
		text = "The response to the destroy was 404 Not Found, so the resource was removed from the state. The response does not " +
			"have the form of the service's own errors. If the stream exists, its processors are still attached: check base_url."
	}
	return diag.NewWarningDiagnostic(aboutStream("Stream Not Found", id),
		paragraphs(s.words.Replace(text), requestAndResponse(e), nowTrue(e.Outcome, e.Stream)))
}

// deploymentChangedWarning is the same for all resources of a run, so that Terraform shows it once.
func deploymentChangedWarning(from, to string) diag.Diagnostic {
	return diag.NewWarningDiagnostic("The Deployment Has Changed", paragraphs(
		fmt.Sprintf("The state is that of deployment %q, and the provider is configured for deployment %q. The apply sends the sets to %q. "+
			"Streams at %q keep their processors.", from, to, to, from),
		fmt.Sprintf("If both are the same deployment, at another address, set deployment = %q in the provider block: then nothing is sent.", from)))
}

// otherDeploymentError is for a destroy that would detach processors at a deployment that never had the set.
func otherDeploymentError(from, to string) diag.Diagnostic {
	return diag.NewErrorDiagnostic("The Deployment Has Changed", paragraphs(
		fmt.Sprintf("The state is that of deployment %q, and the provider is configured for deployment %q. A destroy would detach the "+
			"processors of streams at %q, which never got them from this resource.", from, to, to),
		fmt.Sprintf("To detach the processors at %q, configure that deployment again. To take the set to %q first, apply without the destroy. "+
			"To leave the processors attached, set on_destroy = \"keep\" and apply, or use a removed block with destroy = false. "+
			"If the resource is tainted, terraform untaint makes it an update.", from, to),
		"Nothing was sent. "+nowTrue(streams.NotChanged, nil)))
}
