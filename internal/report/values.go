package report

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// Mistake is a value of the configuration that is not what it should be.
type Mistake struct {
	At    path.Path // of the value, or of the set that has it
	Key   string    // of the map that has the set; "" for none
	Value string
	What  Noun
	Err   error // what is wrong with the value, such as "must not be empty"; nil: it is null
	Mend  Mend
}

// Mend is a sentence about what makes a value right; "" for none.
type Mend string

// What makes values right.
const (
	TrimSpace Mend = "In Terraform, trimspace() removes it."
	TrimMark  Mend = `In Terraform, trimprefix(…, "\uFEFF") removes it.`
	Compact   Mend = "In Terraform, compact() leaves out empty texts and nulls."
)

// Noun is what a value should be, such as "a stream id" and "stream ids".
type Noun struct{ One, Several string }

// shownMistakes is how many values an error about many names.
const shownMistakes = 20

// Mistakes returns one error for each kind of mistake in the value of an attribute, which may be a map of thousands.
func Mistakes(attribute path.Path, all []Mistake) (diags diag.Diagnostics) {
	type kind struct {
		what Noun
		err  string
		mend Mend
	}
	var kinds []kind
	found := map[kind][]Mistake{}
	for _, m := range all {
		k := kind{m.What, fmt.Sprint(m.Err), m.Mend}
		if found[k] == nil {
			kinds = append(kinds, k)
		}
		found[k] = append(found[k], m)
	}
	for _, k := range kinds {
		if same := found[k]; len(same) == 1 {
			diags.Append(same[0].alone())
		} else {
			diags.Append(withOneMistake(attribute, same))
		}
	}
	return diags
}

func (m Mistake) alone() diag.Diagnostic {
	if m.Err == nil {
		return missingValue(m.At, sentences(m.What.One+" must not be null.", m.Mend))
	}
	return invalidValue(m.At, sentences(fmt.Sprintf("%q is not %s: it %s.", m.Value, m.What.One, m.Err), m.Mend))
}

func withOneMistake(attribute path.Path, same []Mistake) diag.Diagnostic {
	var names []string
	for _, m := range same {
		switch {
		case m.Key == "" && m.Err != nil:
			names = append(names, fmt.Sprintf("%q", m.Value))
		case m.Key != "" && m.Err != nil:
			names = append(names, fmt.Sprintf("%q: %q", m.Key, m.Value))
		case m.Key != "":
			names = append(names, fmt.Sprintf("%q", m.Key))
		}
	}
	shown := strings.Join(names[:min(len(names), shownMistakes)], ", ")
	if others := len(names) - shownMistakes; others > 0 {
		shown += fmt.Sprintf(" and %d others", others)
	}
	m, n := same[0], len(same)
	if m.Err == nil {
		return missingValue(attribute, paragraphs(sentences(fmt.Sprintf("%d %s must not be null.", n, m.What.Several), m.Mend), shown))
	}
	return invalidValue(attribute, paragraphs(sentences(fmt.Sprintf("%d values are not %s: they %s.", n, m.What.Several, m.Err), m.Mend), shown))
}

func sentences(text string, mend Mend) string { return join(" ", text, string(mend)) }

// MissingValue is the error of a null. what is what it should be, such as "the set".
func MissingValue(at path.Path, what string) diag.Diagnostic {
	return missingValue(at, what+" must not be null.")
}

func invalidValue(at path.Path, text string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, "Invalid Attribute Value", fmt.Sprintf("%s: %s", at, text))
}

func missingValue(at path.Path, text string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, "Missing Attribute Value", fmt.Sprintf("%s: %s", at, text))
}
