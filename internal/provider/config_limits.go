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
	return schema.Int64Attribute{
		Optional: true,
		MarkdownDescription: "Limit of requests at the same time, for all resources and actions of this provider block " +
			"together. Waits before retries do not count. Default: `64`.",
	}
}

func (s *settings) readMaxConcurrent(v types.Int64) {
	s.unknown = s.unknown || v.IsUnknown()
	n := v.ValueInt64()
	if !v.IsNull() && !v.IsUnknown() && (n < 1 || n > maxConcurrentRequests) {
		s.refuse(path.Root("max_concurrent_requests"), "must be from 1 to %d; it is %d.", maxConcurrentRequests, n)
		return
	}
	s.client.MaxConcurrent = int(min(n, math.MaxInt32))
}
