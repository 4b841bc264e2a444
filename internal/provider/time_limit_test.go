package provider_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/server"
	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// startSlowly starts a provider and its service in a bubble of synctest. Each response takes a time of the bubble's clock.
func startSlowly(t *testing.T, latency time.Duration, config coretest.Attributes, ids []string) *coretest.Process {
	t.Helper()
	listener := streamstest.Listen()
	service := streamstest.New(streamstest.Options{ServeGet: true, Latency: latency}, streamstest.Streams(ids...)...)
	host := &httptest.Server{Listener: listener, Config: &http.Server{Handler: service}}
	host.Start()
	t.Cleanup(host.Close)
	p := newProcess(t, server.New("test", &provider.Host{Dial: streamstest.Dial})())
	p.Limit = 24 * time.Hour
	p.Configure(merge(coretest.Attributes{"base_url": host.URL}, config))
	return p
}

// With all defaults, groups and their data source have 30 minutes: ten requests at a time, 200 streams and 16 seconds for each response
// take more than five minutes, as 2,000 streams and 1.6 seconds do.
func TestTimeLimitOfALargeGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		streams := sameSet(200, "p1")
		p, config := startSlowly(t, 16*time.Second, detectDrift, idsOf(streams)), group(streams, nil)
		start := time.Now()
		planned, _, diags := p.Plan(nullGroup(), config)
		wantDiagnostics(t, diags)
		created, diags := p.Apply(nullGroup().Value, planned, config)
		wantDiagnostics(t, diags)
		_, diags = p.Read(created)
		wantDiagnostics(t, diags)
		_, diags = read(p, coretest.GroupName, idsOf(streams)...)
		wantDiagnostics(t, diags)
		if passed, want := time.Since(start), 4*320*time.Second; passed < want || passed > want+time.Minute {
			t.Errorf("the plan, the apply, the refresh and the data source took %s, want %s", passed, want)
		}
	})
}

// The error of a group whose time limit has passed says how many streams were done, and which two settings to raise.
func TestTimeLimitOfAGroupPasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		streams := sameSet(60, "p1")
		limited := func(streams map[string][]string, name string) tftypes.Value {
			return group(streams, coretest.Attributes{"timeouts": coretest.Attributes{name: "2500ms"}})
		}
		p := startSlowly(t, time.Second, detectDrift, idsOf(streams))
		wantSaid := func(diags coretest.Diagnostics, what string) {
			t.Helper()
			detail, done := "", -1
			for _, d := range errorsOf(diags) {
				detail += d.Detail
			}
			streamstest.WantText(t, detail, "Raise timeouts, or check base_url.", "raise max_concurrent_requests")
			last := detail[strings.LastIndex(detail, "\n")+1:]
			if _, err := fmt.Sscanf(last, "%d of 60 "+what, &done); err != nil || done < 10 || done > 20 {
				t.Errorf("%d of the %s: %s", done, what, diags)
			}
		}

		_, _, diags := p.Plan(nullGroup(), limited(streams, "read"))
		wantSaid(diags, "streams were read.")
		create := func(config tftypes.Value) (coretest.Managed, coretest.Diagnostics) {
			planned, _, _ := p.Plan(nullGroup(), config)
			return p.Apply(nullGroup().Value, planned, config)
		}
		_, diags = create(limited(streams, "create"))
		wantSaid(diags, "changes succeeded.")

		created, diags := create(limited(streams, "read"))
		wantDiagnostics(t, diags)
		_, diags = p.Read(created)
		wantSaid(diags, "streams were read.")
		limit := coretest.Attributes{"read": "2500ms"}
		_, diags = p.ReadData(coretest.GroupName, coretest.Attributes{"stream_ids": idsOf(streams), "timeouts": limit})
		wantSaid(diags, "streams were read.")
	})
}
