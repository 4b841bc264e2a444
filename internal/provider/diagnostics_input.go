package provider

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/stream-management/terraform-provider-stream/internal/config"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Diagnostics of what a user wrote: values, import ids and moved blocks.

const nothingDone = "Nothing was sent, and nothing was changed in the state."

func invalidImportID(id string, err error) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root("stream_id"), "Invalid Stream ID",
		fmt.Sprintf("%q cannot be imported: a stream id %s.", id, err))
}

func invalidValue(at path.Path, value, what string, err error) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, "Invalid Attribute Value", fmt.Sprintf("%s: %q is not %s: it %s.", at, value, what, err))
}

func missingValue(at path.Path, what string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, "Missing Attribute Value", fmt.Sprintf("%s: %s must not be null.", at, what))
}

// cannotMove shows how to take a stream over without a moved block.
func cannotMove(from, id string, err error) diag.Diagnostic {
	quoted := strconv.Quote(cmp.Or(id, "STREAM_ID"))
	quoted = strings.NewReplacer("${", "$${", "%{", "%%{").Replace(quoted)
	return diag.NewErrorDiagnostic("Resource Cannot Be Moved", fmt.Sprintf(`A %[1]s can be moved if its request is a PATCH of /v2/streams/{id} with processor_ids. This resource cannot be moved: %[3]s.

Import the stream instead. Replace the moved block with these two, with your own resource names, and keep the old provider configured until they are applied:

  removed {
    from = %[1]s.example
    lifecycle {
      destroy = false
    }
  }

  import {
    to = stream_processors.example
    id = %[2]s
  }

%[4]s`, from, quoted, err, nothingDone))
}

// invalidClient reports what the client refused although every single value was accepted.
func invalidClient(err error) diag.Diagnostic {
	return diag.NewErrorDiagnostic(config.Invalid, sentence(err.Error()))
}

// needsReads is the error of what cannot be done without detect_drift.
func needsReads(summary, otherwise string) diag.Diagnostic {
	return diag.NewErrorDiagnostic(summary, paragraphs(
		"The interface specifies no read, so the provider reads streams only with detect_drift.",
		"If the deployment serves GET /v2/streams/{id}, set detect_drift = true in the provider block, or STREAM_DETECT_DRIFT=true. "+
			"Otherwise "+otherwise,
		nothingDone))
}

func cannotList() diag.Diagnostic {
	return needsReads("Streams Cannot Be Listed", "write the resources by hand.")
}

func cannotLookUp() diag.Diagnostic {
	return needsReads("Streams Cannot Be Read", "remove the data source: nobody can ask the service what is attached.")
}

func cannotImportGroup() diag.Diagnostic {
	return needsReads("Group Cannot Be Imported", "remove the import, and apply the group: a create sends each set once, and detaches "+
		"what is not in the sets.")
}

func queryInterrupted(listed, all int) diag.Diagnostic {
	return diag.NewErrorDiagnostic(string(streams.KindInterrupted), fmt.Sprintf(
		"The query was interrupted after %d of %d streams. A query changes nothing: run it again.", listed, all))
}

func invalidGroupImportID(err error) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Invalid Stream IDs", paragraphs(
		fmt.Sprintf("The id of the import is wrong: %s.", err),
		`The id of a group is the ids of its streams: a list in JSON, such as ["cam-1", "cam-2"], or one id on each line.`,
		nothingDone))
}
