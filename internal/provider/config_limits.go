package provider

import (
	"math"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func requestsPerSecondAttribute() schema.Attribute {
	return schema.Float64Attribute{
		Optional: true,
		MarkdownDescription: "Limit of requests per second, including retries and token requests. Fractions are allowed. " +
			"Default: no limit.",
	}
}

func (s *settings) readRequestsPerSecond(v types.Float64) {
	s.unknown = s.unknown || v.IsUnknown()
	s.client.RequestsPerSecond = v.ValueFloat64()
	if !v.IsNull() && !v.IsUnknown() && v.ValueFloat64() <= 0 {
		s.refuse(path.Root("requests_per_second"), "must be more than 0. Leave it out for no limit.")
	}
}

// maxConcurrentRequests is the highest max_concurrent_requests: each request may need a connection.
const maxConcurrentRequests = 10_000

func maxConcurrentAttribute() schema.Attribute {
	return schema.NumberAttribute{
		Optional: true,
		MarkdownDescription: "Limit of requests at the same time, for all resources and actions of this provider block " +
			"together. Waits before retries do not count. Default: `64`.",
	}
}

func (s *settings) readMaxConcurrent(v types.Number) {
	at := path.Root("max_concurrent_requests")
	n, ok := s.wholeNumber(at, v)
	if ok && (n < 1 || n > maxConcurrentRequests) {
		s.refuse(at, "must be from 1 to %d; it is %d.", maxConcurrentRequests, n)
		return
	}
	s.client.MaxConcurrent = n
}

// wholeNumber reports false if the value is null, not known yet or refused. The schema has no integers, because the
// framework would call a fraction an error of the provider.
func (s *settings) wholeNumber(at path.Path, v types.Number) (n int, ok bool) {
	s.unknown = s.unknown || v.IsUnknown()
	if v.IsNull() || v.IsUnknown() {
		return 0, false
	}
	if !v.ValueBigFloat().IsInt() {
		s.refuse(at, "must be a whole number; it is %s.", v)
		return 0, false
	}
	whole, _ := v.ValueBigFloat().Int64()
	return int(max(math.MinInt32, min(whole, math.MaxInt32))), true
}
