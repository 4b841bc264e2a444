package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
)

// Thousands of values may have one mistake, such as the line breaks of a file: one error for each kind of mistake names 20, counts
// the others, and says what mends them.
func TestOneErrorForEachKindOfMistake(t *testing.T) {
	t.Parallel()
	const many = 2000
	p := startProvider(t, coretest.Attributes{"base_url": "http://127.0.0.1:1", "detect_drift": true})
	group := func(streams coretest.Attributes) coretest.Diagnostics {
		return p.Validate(coretest.ToTerraform(groupSchema().ValueType(), coretest.Attributes{"streams": streams}))
	}
	ids := func(format string) (all []any) {
		for i := range many {
			all = append(all, fmt.Sprintf(format, i))
		}
		return all
	}
	keys := func(all []any, set any) coretest.Attributes {
		streams := coretest.Attributes{"ok": []string{"p1"}}
		for _, id := range all {
			streams[fmt.Sprint(id)] = set
		}
		return streams
	}
	single := func(set []any) coretest.Diagnostics { return p.Validate(single("cam-1", set)) }
	data := func(set []any) coretest.Diagnostics {
		return p.ValidateData(coretest.GroupName, coretest.Attributes{"stream_ids": set})
	}
	query := func(list []any) (diags coretest.Diagnostics) {
		for result := range p.List(coretest.Attributes{"stream_ids": list}, false, many) {
			diags = append(diags, result.Diagnostics...)
		}
		return diags
	}
	// shown has the first 20 values of a format, and the number of the others.
	shown := func(format string) string {
		var names []string
		for i := range 20 {
			names = append(names, fmt.Sprintf(format, i))
		}
		return strings.Join(names, ", ") + " and 1980 more"
	}
	const (
		others  = "\n\nAll with this mistake: "
		trimmed = "it must not begin or end with white space, such as the line break of a file. In Terraform, trimspace() removes it." + others
		compact = " In Terraform, compact() leaves out empty texts and nulls."
		invalid = "ERROR: Invalid Attribute Value: "
	)
	for name, test := range map[string]struct {
		got  coretest.Diagnostics
		want []string
	}{
		"sets of a group": {group(keys(ids("cam-%04d"), []string{"p1 "})), []string{
			invalid + `streams: "p1 " is not a processor id: ` + trimmed + shown(`"cam-%04d": "p1 "`),
		}},
		"keys and sets of a group": {group(keys(ids("cam-%04d "), []string{""})), []string{
			invalid + `streams: "cam-0000 " is not a stream id: ` + trimmed + shown(`"cam-%04d "`),
			invalid + `streams: "" is not a processor id: it must not be empty.` + compact + others + shown(`"cam-%04d ": ""`),
		}},
		"no sets in a group": {group(keys(ids("cam-%04d"), nil)), []string{
			invalid + `streams: null is not a set: it must not be null.` + others + shown(`"cam-%04d": null`),
		}},
		"dots and a byte order mark": {group(coretest.Attributes{".": []string{}, "..": []string{}, "\ufeffcam": []string{}}), []string{
			invalid + `streams["."]: "." is not a stream id: it must not be ".", which has a special meaning in a URL path.`,
			invalid + `streams[".."]: ".." is not a stream id: it must not be "..", which has a special meaning in a URL path.`,
			invalid + `streams["\ufeffcam"]: "\ufeffcam" is not a stream id: it must not have a byte order mark (U+FEFF), ` +
				`with which some editors begin a file. In Terraform, trimprefix(…, "\uFEFF") removes it.`,
		}},
		"a set of processors": {single(append(ids("p%04d\r\n"), nil, "")), []string{
			invalid + `processor_ids: "p0000\r\n" is not a processor id: ` + trimmed + shown(`"p%04d\r\n"`),
			invalid + "processor_ids: null is not a processor id: it must not be null." + compact,
			invalid + `processor_ids: "" is not a processor id: it must not be empty.` + compact,
		}},
		"a data source": {data(append(ids("cam-%04d\r"), "\ufeffcam")), []string{
			invalid + `stream_ids: "cam-0000\r" is not a stream id: ` + trimmed + shown(`"cam-%04d\r"`),
			invalid + `stream_ids: "\ufeffcam" is not a stream id: it must not have a byte order mark (U+FEFF), ` +
				`with which some editors begin a file. In Terraform, trimprefix(…, "\uFEFF") removes it.`,
		}},
		"21 processors": {single(ids(" p%04d")[:21]), []string{
			invalid + `processor_ids: " p0000" is not a processor id: ` + trimmed + strings.Replace(shown(`" p%04d"`), "1980 more", "1 more", 1),
		}},
		"20 processors": {single(ids(" p%04d")[:20]), []string{
			invalid + `processor_ids: " p0000" is not a processor id: ` + trimmed + strings.Replace(shown(`" p%04d"`), " and 1980 more", "", 1),
		}},
		"a query": {query(append(ids(" cam-%04d"), nil, nil, tftypes.UnknownValue)), []string{
			invalid + `stream_ids: " cam-0000" is not a stream id: ` + trimmed + shown(`" cam-%04d"`),
			invalid + `stream_ids: null is not a stream id: it must not be null.` + compact + others + "null, null",
		}},
		"what trimspace does not mend": {group(coretest.Attributes{"a\tb\r": []string{}}), []string{
			invalid + `streams["a\tb\r"]: "a\tb\r" is not a stream id: it must not begin or end with white space, such as ` +
				`the line break of a file.`,
		}},
	} {
		var got []string
		for _, d := range test.got {
			got = append(got, coretest.Diagnostics{d}.String())
		}
		wantEqual(t, name, test.want, got)
	}
}
