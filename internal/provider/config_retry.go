package provider

import (
	"cmp"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

func requestTimeoutAttribute() schema.Attribute {
	return optionalString("Time limit of one attempt, from the connection to the end of the response, as a duration such " +
		"as `10s` or `1m30s`. The resource's `timeouts` limit all attempts together. Default: `30s`.")
}

func (s *settings) readRequestTimeout(v types.String) {
	s.client.RequestTimeout = s.duration(path.Root("request_timeout"), v)
}

func retryAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "How requests are retried. Failed connections and the statuses 408, 429, 500, 502, 503 and 504 " +
			"are retried, and `Retry-After` is honoured. Default: 5 attempts, with waits from `500ms` to `30s`.",
		Attributes: map[string]schema.Attribute{
			"max_attempts": schema.NumberAttribute{
				Optional:            true,
				MarkdownDescription: "Number of attempts, including the first; `1` means no retry. Default: `5`.",
			},
			"min_backoff": optionalString("Shortest wait before a retry, as a duration. Default: `500ms`."),
			"max_backoff": optionalString("Longest wait before a retry, as a duration. Only `Retry-After` may exceed it. " +
				"Default: `30s`."),
		},
	}
}

func (s *settings) readRetry(v types.Object) {
	if s.unknown = s.unknown || v.IsUnknown(); v.IsUnknown() {
		return
	}
	at := path.Root("retry")
	r, standard := &s.client.Retry, streams.DefaultRetry
	attempts, ok := s.wholeNumber(at.AtName("max_attempts"), objectAttribute[types.Number](v, "max_attempts"))
	if ok && attempts < 1 {
		s.refuse(at.AtName("max_attempts"), "must be at least 1, which means no retry; it is %d.", attempts)
	}
	r.MaxAttempts = cmp.Or(attempts, standard.MaxAttempts)
	shortest := s.duration(at.AtName("min_backoff"), objectAttribute[types.String](v, "min_backoff"))
	longest := s.duration(at.AtName("max_backoff"), objectAttribute[types.String](v, "max_backoff"))
	if longest != 0 && shortest > longest {
		s.refuse(at.AtName("max_backoff"), "must not be shorter than min_backoff.")
	}
	// A user who sets one bound need not know the default of the other.
	r.MinBackoff = cmp.Or(shortest, min(standard.MinBackoff, cmp.Or(longest, standard.MinBackoff)))
	r.MaxBackoff = cmp.Or(longest, max(standard.MaxBackoff, shortest))
}
