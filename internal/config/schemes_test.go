package config

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
)

// wired is a way to authenticate that a module may wire from a variable: an attribute with a value, and the forms of none.
type wired struct {
	name   string // in errors
	value  block
	nulls  []block
	unsure []block // known after apply, in whole or in part
}

func topSchemes() []wired {
	client := block{"token_url": someURL, "client_id": "c", "client_secret": "s"}
	nullClient := block{"token_url": nil, "client_id": nil, "client_secret": nil}
	return []wired{
		{"token", block{"token": "t"}, []block{{"token": nil}}, []block{{"token": afterApply}}},
		{"token_file", block{"token_file": "f"}, []block{{"token_file": nil}}, []block{{"token_file": afterApply}}},
		{
			"basic_auth", block{"basic_auth": block{"username": "u", "password": "p"}},
			[]block{{"basic_auth": nil}, {"basic_auth": block{"username": nil, "password": nil}}},
			[]block{{"basic_auth": afterApply}, {"basic_auth": block{"username": afterApply, "password": afterApply}},
				{"basic_auth": block{"username": nil, "password": afterApply}}},
		},
		{
			"oauth2", block{"oauth2": client},
			[]block{{"oauth2": nil}, {"oauth2": nullClient}, {"oauth2": merge(nullClient, block{"scopes": []any{}, "endpoint_params": block{}})}},
			[]block{{"oauth2": afterApply}, {"oauth2": merge(nullClient, block{"token_url": afterApply})}},
		},
		{
			`headers["Authorization"]`, block{"headers": block{"Authorization": "ApiKey k", "X-Other": nil}},
			[]block{{"headers": nil}, {"headers": block{"Authorization": nil, "X-Other": nil}}, {"headers": block{}}},
			[]block{{"headers": afterApply}, {"headers": block{"Authorization": afterApply}}},
		},
	}
}

func clientSchemes() (all []wired) {
	of := func(name string, value any) block { return oauth2(block{name: value}) }
	for _, name := range []string{"client_secret", "client_assertion", "client_assertion_file"} {
		all = append(all, wired{"oauth2." + name, of(name, "s"), []block{of(name, nil)}, []block{of(name, afterApply)}})
	}
	return all
}

// both is a provider block with what both blocks have, also in oauth2.
func both(a, b block) block {
	merged := maps.Clone(a)
	for name, value := range b {
		if inA, inB := blockIn(merged[name]), blockIn(value); inA != nil && inB != nil {
			value = both(inA, inB)
		}
		if merged[name] == nil || value != nil {
			merged[name] = value
		}
	}
	return merged
}

func blockIn(value any) block {
	b, _ := value.(block)
	return b
}

// Of two ways to authenticate that are wired from variables, one may be null: nothing is refused while that is not known, and the
// other one authenticates once it is. Two that are set are an error, in whichever order values become known.
func TestTwoSchemesFromVariables(t *testing.T) {
	t.Parallel()
	for _, schemes := range [][]wired{topSchemes(), clientSchemes()} {
		for i, second := range schemes {
			for _, first := range schemes[:i] {
				t.Run(first.name+" and "+second.name, func(t *testing.T) {
					t.Parallel()
					checkOne(t, first, second)
					checkOne(t, second, first)
					_, diags := read(t, both(first.value, second.value), nil)
					wantProblems(t, diags, second.name+" and "+first.name+" are two ways to authenticate. A request carries one.")
				})
			}
		}
	}
}

// checkOne checks one of two ways to authenticate, beside the other one as long as that is null or not known.
func checkOne(t *testing.T, one, other wired) {
	validate := func(b block) { wantProblems(t, Validate(t.Context(), decoded(t, b), environment{}.lookup)) }
	alone, diags := read(t, one.value, nil)
	wantProblems(t, diags)
	for _, null := range other.nulls {
		validate(both(null, one.value))
		s, diags := read(t, both(null, one.value), nil)
		wantProblems(t, diags)
		if diff := cmp.Diff(alone.Client, s.Client, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("beside %v (-want +got):\n%s", null, diff)
		}
	}
	for _, unsure := range other.unsure {
		for _, beside := range slices.Concat([]block{one.value}, one.nulls, one.unsure) {
			validate(both(beside, unsure))
			s, diags := read(t, both(beside, unsure), nil)
			if wantProblems(t, diags); s.Complete {
				t.Errorf("%v beside %v is complete", unsure, beside)
			}
		}
	}
}

// An object without any value means the environment where the block has nothing else.
func TestEmptyObjects(t *testing.T) {
	t.Parallel()
	nulls := block{"basic_auth": block{"username": nil, "password": nil}, "oauth2": block{"client_id": nil}}
	user := environment{"STREAM_USERNAME": "u", "STREAM_PASSWORD": "p"}
	ofUser := requests.Config{BasicAuth: &requests.BasicAuth{Username: "u", Password: "p"}, Credentials: `the basic_auth of user "u"`,
		Place: "STREAM_USERNAME and STREAM_PASSWORD"}
	key := requests.Config{Headers: map[string]string{"X-Api-Key": "k"}, Credentials: "the header X-Api-Key",
		Place: "headers in the provider block"}
	clients{
		"one":                                   {block{"basic_auth": block{}}, user, ofUser},
		"two, of which the environment has one": {nulls, user, ofUser},
		"the environment also has another scheme": {nulls, environment{"STREAM_USERNAME": "u", "STREAM_PASSWORD": "p", "STREAM_TOKEN": "t"},
			ofUser},
		"beside an API key":   {merge(nulls, block{"headers": block{"X-Api-Key": "k"}}), nil, key},
		"beside a null token": {merge(nulls, block{"token": nil}), user, ofUser},
	}.run(t)
	problems{
		"nothing in the environment": {block{"basic_auth": block{}, "token": nil}, environment{"STREAM_TOKEN": "t"}, []string{
			"basic_auth.password is missing", "basic_auth.username is missing",
		}},
		"two in the environment": {nulls, environment{"STREAM_USERNAME": "u", "STREAM_PASSWORD": "p", "STREAM_OAUTH2_CLIENT_ID": "c"}, []string{
			"The environment has several ways to authenticate: STREAM_OAUTH2_CLIENT_ID, STREAM_PASSWORD, STREAM_USERNAME.",
		}},
		"a part of a scheme is one": {merge(block{"oauth2": block{"scopes": []any{"a"}}}, block{"token": "t"}), environment{
			"STREAM_OAUTH2_TOKEN_URL": someURL, "STREAM_OAUTH2_CLIENT_ID": "c", "STREAM_OAUTH2_CLIENT_SECRET": "s",
		}, []string{"oauth2 and token are two ways to authenticate."}},
	}.run(t)
}

// What the environment has counts only where the block certainly has no scheme.
func TestUnknownSchemeHidesTheEnvironment(t *testing.T) {
	t.Parallel()
	env := environment{"STREAM_TOKEN": "t", "STREAM_USERNAME": "u", "STREAM_HEADERS": `{"Authorization": "x"}`} // several ways
	for _, scheme := range topSchemes() {
		for _, unsure := range scheme.unsure {
			_, diags := read(t, unsure, env)
			wantProblems(t, diags)
		}
		s, diags := read(t, scheme.value, env)
		if wantProblems(t, diags); scheme.value["headers"] == nil && s.Client.Headers["Authorization"] != "" {
			t.Errorf("%s: the headers are %v", scheme.name, s.Client.Headers)
		}
	}
}
