package report

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// Mistake is a value of the configuration that is not what it should be.
type Mistake struct {
	Fault
	At    path.Path // of the value, or of the set that has it
	Key   string    // of the map that has the set, in quotes; "" for none
	Value string    // in quotes, or null
}

// Fault is what is wrong with a value.
type Fault struct {
	What  string // it should be, such as "a stream id"
	Wrong string // such as "must not be empty"
	Mend  string // a sentence about what makes the value right; may be empty
}

// What makes values right.
const (
	TrimSpace = "In Terraform, trimspace() removes it."
	TrimMark  = `In Terraform, trimprefix(…, "\uFEFF") removes it.`
	Compact   = "In Terraform, compact() leaves out empty texts and nulls."
)

// Mistakes returns one error for each fault in the value of an attribute, which may be a map of thousands.
func Mistakes(attribute path.Path, all []Mistake) (diags diag.Diagnostics) {
	for _, same := range inOrder(all, func(m Mistake) Fault { return m.Fault }) {
		m, at, others := same[0], same[0].At, ""
		if len(same) > 1 {
			var names []string
			for _, m := range same {
				names = append(names, join(": ", m.Key, m.Value))
			}
			at, others = attribute, "All with this mistake: "+some(names, shownTexts)
		}
		diags.AddAttributeError(at, "Invalid Attribute Value",
			paragraphs(join(" ", fmt.Sprintf("%s: %s is not %s: it %s.", at, m.Value, m.What, m.Wrong), m.Mend), others))
	}
	return diags
}

// MissingValue is the error of an attribute that is null. what is what it should be, such as "the set".
func MissingValue(at path.Path, what string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, "Missing Attribute Value", fmt.Sprintf("%s: %s must not be null.", at, what))
}

// UnsetInState is the error of a set that the state does not have, and that ignore_changes keeps so: an import has not read it.
func UnsetInState() diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(path.Root("processor_ids"), "Set Not Known to the State", paragraphs(
		"processor_ids: ignore_changes keeps what the state has, and the state has no processor ids: the stream was imported or moved, "+
			"and has not been read.",
		"If the deployment serves GET /v2/streams/{id}, set detect_drift = true, so that the refresh reads the set. Otherwise, "+
			"remove the attribute from ignore_changes, apply once, which sends the configured set, and add it again. For terraform "+
			"destroy, add -refresh=false.",
		nothingSent+notChangedHere))
}
