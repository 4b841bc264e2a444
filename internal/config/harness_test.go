package config

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
)

// exactly returns a number that float64 need not have.
func exactly(text string) *big.Float {
	n, _, err := big.ParseFloat(text, 10, 512, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return n
}

// block is a provider block, or an object or a map in it.
type block = coretest.Attributes

// environment has the environment variables of the provider.
type environment map[string]string

// afterApply is a value that is known after apply.
const afterApply = tftypes.UnknownValue

const someURL = "https://streams.example.com"

// lookup is like [os.LookupEnv]. Unless the environment says otherwise, STREAM_BASE_URL is someURL.
func (e environment) lookup(name string) (text string, isSet bool) {
	if text, isSet = e[name]; isSet || name != "STREAM_BASE_URL" {
		return text, isSet
	}
	return someURL, true
}

// merge returns the attributes of both objects. Those of the second one come first.
func merge(a, b block) block {
	merged := maps.Clone(a)
	maps.Copy(merged, b)
	return merged
}

// decoded makes of a provider block what the framework makes of it.
func decoded(t *testing.T, block block) tfsdk.Config {
	t.Helper()
	return tfsdk.Config{Schema: Schema(), Raw: coretest.ToTerraform(Schema().Type().TerraformType(t.Context()), block)}
}

func read(t *testing.T, block block, env environment) (Settings, diag.Diagnostics) {
	t.Helper()
	return Read(t.Context(), decoded(t, block), env.lookup)
}

// clients has provider blocks and what they say about the client. The defaults of what each client has are left out.
type clients map[string]struct {
	block block
	env   environment
	want  requests.Config
}

func (tests clients) run(t *testing.T) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, diags := read(t, test.block, test.env)
			if wantProblems(t, diags); !s.Complete {
				t.Error("the settings are not complete")
			}
			if test.want.BaseURL == "" {
				test.want.BaseURL = someURL
			}
			if test.want.Retry == (requests.Retry{}) {
				test.want.Retry = requests.DefaultRetry
			}
			if test.want.Credentials == "" {
				test.want.Credentials = requests.NoCredentials
			}
			if diff := cmp.Diff(test.want, s.Client, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

// problems has provider blocks and what is wrong with them, as wantProblems expects it.
type problems map[string]struct {
	block block
	env   environment
	want  []string
}

func (tests problems) run(t *testing.T) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := read(t, test.block, test.env)
			wantProblems(t, diags, test.want...)
		})
	}
}

// wantProblems fails the test unless there are exactly these problems, each the beginning of a text that names the
// attribute, or if one of them quotes a secret of the tests.
func wantProblems(t *testing.T, diags diag.Diagnostics, want ...string) {
	t.Helper()
	got := problemsIn(diags)
	if !slices.EqualFunc(got, want, strings.HasPrefix) || strings.Contains(fmt.Sprint(got), "Hidden") {
		t.Errorf("problems:\n\t%s\nwant, without a secret:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// problemsIn returns the sorted texts of diagnostics, each with its attribute.
func problemsIn(diags diag.Diagnostics) (got []string) {
	for _, d := range diags {
		text := d.Detail()
		if d, ok := d.(diag.DiagnosticWithPath); ok && !strings.HasPrefix(text, d.Path().String()+" ") {
			text = d.Path().String() + ": " + text
		}
		if d.Summary() != Invalid {
			text = d.Severity().String() + ": " + text
		}
		got = append(got, text)
	}
	slices.Sort(got)
	return got
}
