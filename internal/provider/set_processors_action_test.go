package provider_test

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// The progress names each attempt, and the set in order.
func TestActionInvoke(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Stream{ID: "cam-1", ProcessorIDs: []string{"p0"}})
	p := startProvider(t, coretest.Attributes{"base_url": url, "retry": coretest.Attributes{"min_backoff": "1ms", "max_backoff": "1ms"}})
	service.Inject(streamstest.Fault{Status: 503}, streamstest.Fault{ResetBefore: true})
	progress, diags := p.Invoke(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p2", "p1"}})
	wantDiagnostics(t, diags)
	for i, line := range progress { // the text of a failed connection depends on the system, and a wait on chance
		line = retryWait.ReplaceAllString(strings.Replace(line, url, "…", 1), ", next in …")
		progress[i] = failedConnection.ReplaceAllString(line, "no valid response: …")
	}
	const patch = "PATCH …/v2/streams/cam-1 → "
	wantEqual(t, "progress", []string{
		`Setting the processors of stream "cam-1" to ["p1", "p2"]`,
		"Attempt 1: " + patch + "503 Service Unavailable, next in …",
		"Attempt 2: " + patch + "no valid response: …, next in …",
		"Attempt 3: " + patch + "200 OK",
	}, progress)
	service.WantAttached(t, "cam-1", "p1", "p2")
}

var (
	retryWait        = regexp.MustCompile(`, next in \d+ms$`)
	failedConnection = regexp.MustCompile(`no valid response: [^,]*`)
)

// An error of the service is that of the action. No progress has a secret.
func TestActionFails(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{Authorize: streamstest.Bearer("secret-token")}, streamstest.Streams("cam-1")...)
	p := startProvider(t, coretest.Attributes{"base_url": url, "token": "secret-token", "retry": oneAttempt})
	service.Inject(streamstest.Fault{Status: 500, Message: "secret-token is not the matter"})
	progress, diags := p.Invoke(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}})
	wantError(t, diags, "*** is not the matter")
	if all := strings.Join(progress, "\n"); len(progress) != 2 || strings.Contains(all, "secret-token") {
		t.Errorf("progress:\n%s", all)
	}
}

// Validate cannot check values of other resources, so the invocation checks all values again.
func TestActionChecksValues(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
	p := startProvider(t, coretest.Attributes{"base_url": url})
	typ := schemas().ActionSchemas[coretest.ActionName].Schema.ValueType()
	const id, set = `AttributeName("stream_id")`, `AttributeName("processor_ids")`
	for name, test := range map[string]struct {
		config coretest.Attributes
		want   []string // paths
	}{
		"not known yet":     {coretest.Attributes{"stream_id": tftypes.UnknownValue, "processor_ids": tftypes.UnknownValue}, nil},
		"nothing":           {coretest.Attributes{}, []string{set, id}},
		"wrong stream":      {coretest.Attributes{"stream_id": "..", "processor_ids": []string{"p1"}}, []string{id}},
		"no set":            {coretest.Attributes{"stream_id": "cam-1"}, []string{set}},
		"wrong processors":  {coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"", " p"}}, []string{set, set}},
		"missing processor": {coretest.Attributes{"stream_id": "cam-1", "processor_ids": []any{nil}}, []string{set}},
		"wrong limit": {
			coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}, "timeouts": coretest.Attributes{"invoke": "-1s"}},
			[]string{`AttributeName("timeouts").AttributeName("invoke")`},
		},
	} {
		resp, err := p.Server.(tfprotov6.ActionServer).ValidateActionConfig(t.Context(), &tfprotov6.ValidateActionConfigRequest{
			ActionType: coretest.ActionName, Config: coretest.DynamicValue(coretest.ToTerraform(typ, test.config)),
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range resp.Diagnostics {
			got = append(got, d.Attribute.String())
		}
		slices.Sort(got)
		wantEqual(t, name, test.want, got)
		if len(test.want) == 0 {
			continue
		}
		if progress, diags := p.Invoke(test.config); !diags.Failed() || len(progress) > 0 || diags[0].Attribute == nil {
			t.Errorf("%s: progress %q, diagnostics %s", name, progress, diags)
		}
	}
	service.WantRequests(t)
}

// An interrupted action reports its error before StopProvider returns: then, the protocol server no longer listens.
func TestActionIsInterrupted(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]streamstest.Fault{
		"no response":     {Delay: patience},
		"failed attempts": {ResetAfter: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, url := streamstest.Start(t, streamstest.Options{}, streamstest.Streams("cam-1")...)
			p := startProvider(t, coretest.Attributes{"base_url": url})
			stopped := make(chan struct{})
			stop := sync.OnceFunc(func() { p.Interrupt(); close(stopped) })
			service.InjectFunc(func(streamstest.Request) *streamstest.Fault { go stop(); return &fault })
			p.Stopped = stopped
			_, diags := p.Invoke(coretest.Attributes{"stream_id": "cam-1", "processor_ids": []string{"p1"}})
			streamstest.WantText(t, diags.String(), "interrupted", "may or may not")
		})
	}
}
