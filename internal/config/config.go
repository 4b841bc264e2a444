// Package config is the provider block: its schema, and what the block and its environment variables say.
package config

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"golang.org/x/text/unicode/norm"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Settings is what a provider block and its environment variables say.
type Settings struct {
	Client      requests.Config
	Deployment  string // the name in the state; "" if it is known after apply
	DetectDrift bool
	Complete    bool // nothing is known only after apply
}

// Read reads a provider block and its environment variables. It reports all problems at once. lookup is [os.LookupEnv].
func Read(ctx context.Context, block tfsdk.Config, lookup func(string) (string, bool)) (Settings, diag.Diagnostics) {
	r := &reader{lookup: lookup}
	s := r.read(ctx, block)
	return s, r.diags
}

// Validate returns the errors of [Read]. It accepts what only the environment lacks: terraform validate often runs without it.
func Validate(ctx context.Context, block tfsdk.Config, lookup func(string) (string, bool)) diag.Diagnostics {
	r := &reader{lookup: lookup}
	r.read(ctx, block)
	if problems := r.diags.Errors(); len(problems) > len(r.unset) {
		return problems
	}
	return nil
}

func (r *reader) read(ctx context.Context, block tfsdk.Config) Settings {
	var values types.Object
	r.diags.Append(block.Get(ctx, &values)...)
	r.attributes = map[string]attribute{}
	collect(r.attributes, attribute{at: path.Empty(), inBlock: values}, block.Schema.Type())
	address := r.address("base_url", withoutAlias, streams.ParseBaseURL)
	s := Settings{
		Deployment:  r.deployment(address),
		DetectDrift: r.detectDrift(),
		Client:      r.credentials(),
		Complete:    block.Raw.IsFullyKnown(),
	}
	s.Client.BaseURL = address
	s.Client.UserAgent = r.userAgent()
	r.checkProxies()
	s.Client.RequestTimeout = r.duration("request_timeout")
	s.Client.MaxConcurrent = r.count("max_concurrent_requests", 10_000) // each request may need a connection
	s.Client.RequestsPerSecond = r.number("requests_per_second", "must be more than 0, and at most a billion",
		func(n float64) bool { return n > 0 && n <= 1e9 })
	s.Client.Retry = r.retry()
	return s
}

// withoutAlias helps where all provider blocks have an alias, and one resource does not name its block.
const withoutAlias = " A resource or data source without provider = … uses the provider block without an alias."

func (r *reader) deployment(address string) string {
	name := norm.NFC.String(r.line(r.get("deployment"))) // as in the state
	base, err := streams.ParseBaseURL(address)
	if name == "" && err == nil && !r.get("deployment").isUnknown {
		return transport.NormalURL(base)
	}
	return name
}

func (r *reader) detectDrift() bool {
	drift := r.get("detect_drift")
	text := r.checked(drift, r.fromEnvironment(drift))
	if text != "" && text != "true" && text != "false" { // no other spelling, because the error names these two
		r.refuse(drift, `must be "true" or "false".`)
	}
	return drift.isTrue() || text == "true"
}

func (r *reader) retry() requests.Retry {
	shortest, longest, standard := r.duration("retry.min_backoff"), r.duration("retry.max_backoff"), requests.DefaultRetry
	if longest != 0 && shortest > longest {
		r.refuse(r.get("retry.max_backoff"), "must not be shorter than min_backoff.")
	}
	return requests.Retry{
		MaxAttempts: r.count("retry.max_attempts", 1_000_000),
		// A user who sets one bound need not know the default of the other.
		MinBackoff: cmp.Or(shortest, min(standard.MinBackoff, cmp.Or(longest, standard.MinBackoff))),
		MaxBackoff: cmp.Or(longest, max(standard.MaxBackoff, shortest)),
	}
}
