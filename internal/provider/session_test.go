package provider_test

import (
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// Operations on one stream never overlap.
func TestOperationsTakeTurns(t *testing.T) {
	t.Parallel()
	streams := sameSet(3, "p1")
	service, url := streamstest.Start(t, streamstest.Options{Latency: time.Millisecond}, seeds(streams)...)
	p := startProvider(t, coretest.Attributes{"base_url": url})
	var all sync.WaitGroup
	for range 10 {
		for _, config := range []tftypes.Value{group(streams, nil), single("s001", []string{"p1"})} {
			all.Go(func() {
				null := coretest.Managed{Value: tftypes.NewValue(config.Type(), nil)}
				planned, _, _ := p.Plan(null, config)
				if _, diags := p.Apply(null.Value, planned, config); diags.Failed() {
					t.Error(diags)
				}
			})
		}
	}
	all.Wait()
	last, requests := map[string]streamstest.Request{}, service.Requests()
	if len(requests) != 40 {
		t.Errorf("%d requests, want 40", len(requests))
	}
	for _, r := range requests {
		if r.Start.Before(last[r.StreamID].End) {
			t.Errorf("two operations on stream %q overlap", r.StreamID)
		}
		last[r.StreamID] = r
	}
}
