package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// InvalidValue is the error of a value that is not what it should be, such as "a stream id".
func InvalidValue(at path.Path, value, what string, err error) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, "Invalid Attribute Value", fmt.Sprintf("%s: %q is not %s: it %s.", at, value, what, err))
}

// MissingValue is the error of a null.
func MissingValue(at path.Path, what string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, "Missing Attribute Value", fmt.Sprintf("%s: %s must not be null.", at, what))
}

// InvalidImport is the error of an import of one stream.
func InvalidImport(id string, err error) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root("stream_id"), "Invalid Stream ID",
		fmt.Sprintf("%q cannot be imported: a stream id %s.", id, err))
}

// InvalidGroupImport is the error of an import of a group.
func InvalidGroupImport(err error) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Invalid Stream IDs", Paragraphs(
		fmt.Sprintf("The id of the import is wrong: %s.", err),
		`The id of a group is the ids of its streams: a list in JSON, such as ["cam-1", "cam-2"], or one id on each line.`,
		nothingDone))
}

// CannotMove is the error of a moved block. It shows how to take a stream over without one.
func CannotMove(from, id string, err error) diag.Diagnostic {
	quoted := strconv.Quote(cmp.Or(id, "STREAM_ID"))
	quoted = strings.NewReplacer("${", "$${", "%{", "%%{").Replace(quoted)
	return diag.NewErrorDiagnostic("Resource Cannot Be Moved", Paragraphs(
		fmt.Sprintf("A %s can be moved if its request is a PATCH of /v2/streams/{id} with processor_ids. This resource cannot be "+
			"moved: %s.", from, err),
		"Import the stream instead. Replace the moved block with these two, with your own resource names, and keep the old provider "+
			"configured until they are applied:",
		fmt.Sprintf(`  removed {
    from = %s.example
    lifecycle {
      destroy = false
    }
  }

  import {
    to = stream_processors.example
    id = %s
  }`, from, quoted), nothingDone))
}
