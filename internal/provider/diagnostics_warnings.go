package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Warnings about one stream have its id in the summary: Terraform merges warnings with equal summaries,
// and shows the details of only one.
func aboutStream(summary, id string) string { return fmt.Sprintf("%s: stream %q", summary, id) }

func unconfirmedWarning(id string) diag.Diagnostic {
	return diag.NewWarningDiagnostic(aboutStream("Outcome of an Earlier Operation Unknown", id),
		"An earlier update or destroy of this stream failed, and may or may not have taken effect. The processors of the stream "+
			"may differ from the state, so this plan sends the set again.")
}

// sharedStreamWarnings explains what a departure, planned before this resource, means for the stream. resend
// says that this resource is only updated because of the departure.
func sharedStreamWarnings(id string, left streams.ProcessorSet, resend bool) diag.Diagnostics {
	var diags diag.Diagnostics
	if resend {
		diags.AddWarning(aboutStream("Set Will Be Sent Again", id), fmt.Sprintf(
			"Another resource of this plan has the same stream, and will be destroyed or move to another stream. That leaves the "+
				"stream with %s, so this resource sends its set again, although its configuration did not change.", left))
	}
	if left.Len() == 0 {
		diags.AddWarning(aboutStream("Processors May Be Detached for a Moment", id), paragraphs(
			"Another resource of this plan leaves this stream and detaches its processors. Terraform may run that operation before "+
				"it applies this resource, and the stream has no processors in between.",
			"If a resource was renamed, or its for_each key changed, add a moved block: then nothing is sent. Otherwise set "+
				"on_destroy = \"keep\" on the other resource, and apply that change first."))
	}
	return diags
}

// createBeforeDestroyWarning is for a replacement that leaves a stream to another resource. With
// create_before_destroy, Terraform does not pass the mark of the plan to the destroy. relies says that the
// other resource sends nothing.
func createBeforeDestroyWarning(id string, relies bool) diag.Diagnostic {
	const remedy = "If this resource has create_before_destroy, set on_destroy = \"keep\" and apply that change first, or " +
		"remove create_before_destroy."
	if relies {
		return diag.NewWarningDiagnostic(aboutStream("Another Resource Has the Stream", id), paragraphs(
			"This resource moves to another stream, and another resource keeps this stream with its processors. But if this "+
				"resource has create_before_destroy, the destroy of the old object detaches the processors, and the state of the "+
				"other resource becomes untrue.", remedy))
	}
	return diag.NewWarningDiagnostic(aboutStream("Processors May Be Detached for a Moment", id), paragraphs(
		"This resource moves to another stream, and another resource of this plan takes this stream over. If this resource has "+
			"create_before_destroy, the destroy of the old object may detach the processors before the other resource is applied.",
		remedy))
}

// abandonedWarning is for a destroy that left its stream to a resource that could not be applied.
func abandonedWarning(id string, known knowledge) diag.Diagnostic {
	return diag.NewWarningDiagnostic(aboutStream("Processors Stay Attached", id), paragraphs(
		fmt.Sprintf("The destroy sent nothing, because another resource of this run sets the processors of the stream. That "+
			"resource failed, so the stream may still have the processors of the destroyed resource: %s. Apply again.", known.abandoned),
		known.nowTrue(),
	))
}

func detachedByCreateWarning(id, detached string) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(path.Root("processor_ids"), aboutStream("Processors Will Be Detached", id), fmt.Sprintf(
		"The stream has processors that are not in processor_ids, and the create detaches them: %s. To keep them, add them to "+
			"processor_ids. If another configuration manages them, let only one configuration manage the stream.", detached))
}

func streamGoneWarning(id string) diag.Diagnostic {
	return diag.NewWarningDiagnostic(aboutStream("Stream Is Gone", id),
		"The service does not know this stream any more. The resource was removed from the state.")
}

// createOfGoneStreamWarning keeps a stream that is gone from blocking each plan and destroy.
func createOfGoneStreamWarning(id string) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(path.Root("stream_id"), aboutStream("Create Will Fail", id),
		"The refresh of this run found that the service does not know this stream any more, so the planned create will fail. "+
			"Remove the resource from the configuration, correct stream_id, or create the stream in the service first.")
}

func notFoundOnDestroyWarning(id string, err error) diag.Diagnostic {
	e := asStreamError(err)
	text := "The service does not know this stream at this address, and the resource was removed from the state. If the stream " +
		"exists at another address, its processors are still attached: check base_url."
	if !e.Documented {
		text = "The response to the destroy was 404 Not Found, so the resource was removed from the state. The response does not " +
			"have the form of the service's own errors. If the stream exists, its processors are still attached: check base_url."
	}
	return diag.NewWarningDiagnostic(aboutStream("Stream Not Found", id), paragraphs(text, requestAndResponse(e), nowTrue(e.Outcome, e.Stream)))
}
