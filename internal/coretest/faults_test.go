package coretest

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// injectRandomFaults makes the service and the network fail until the returned function is called. Only one kind of
// operation fails, or all for "".
func (c *terraformCore) injectRandomFaults(t *rapid.T, failing string) (stop func()) {
	switch evenIndex(t, 20, "reading") {
	case 0:
		c.service.Configure(func(o *streamstest.Options) { o.Merge = true })
	case 1:
		c.service.Configure(func(o *streamstest.Options) { o.RefuseEmpty = true })
	case 2:
		c.service.Configure(func(o *streamstest.Options) { o.KnownProcessors = []string{"p1", "p2"} })
	case 3:
		c.service.Configure(func(o *streamstest.Options) { o.KeepLastEdited = true })
	}
	of := historyFaults
	switch kind := evenIndex(t, 100, "kind of faults"); {
	case kind < 22:
		of = interruptions // one ends the run
	case kind < 43:
		of = slowFaults
	}
	names := slices.Sorted(maps.Keys(of))
	faults := make([]string, 24)
	for i := range faults {
		faults[i] = names[evenIndex(t, len(names), "fault")]
	}
	refreshFails := chance(t, 10, "faults in refresh") // an apply without a plan says little
	c.service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		operating, invoking, running := "", false, c.running.Load()
		c.note(func() { operating, invoking = c.operating[r.StreamID], c.invoking })
		switch {
		case len(faults) == 0, r.Method == http.MethodGet && !refreshFails:
			return nil
		case r.Method == http.MethodPatch && failing != "" && failing != operating:
			return nil
		}
		name := faults[0]
		faults = faults[1:]
		if strings.HasPrefix(name, "interrupt") && (operating == "invoke" || c.next == nil && invoking) {
			return nil // StopProvider waits for the action, and the action for this request or the clock
		}
		fault := of[name]
		if strings.HasPrefix(name, "interrupt") {
			// The request is under way, and the response must count.
			c.interrupted.Store(true)
			_, _ = running.Server.StopProvider(context.Background(), &tfprotov6.StopProviderRequest{})
		}
		if name == "moved" {
			stream, _ := c.service.Stream(r.StreamID)
			stream.TerminalID, stream.LastEdited = stream.TerminalID+"'", 0
			c.service.Seed(stream)
		}
		return &fault
	})
	return func() {
		c.service.InjectFunc(nil)
		c.service.Configure(func(o *streamstest.Options) { *o = historyService(c.drift) })
	}
}

// historyFaults are what may happen to a request. None of them makes a response with a wrong set, because the provider
// could not notice it.
var historyFaults = map[string]streamstest.Fault{
	"400":              {Status: 400},
	"401":              {Status: 401},
	"404":              {Status: 404},
	"404 of a proxy":   {Status: 404, Body: new("not found")},
	"409":              {Status: 409},
	"429":              {Status: 429},
	"408":              {Status: 408},
	"408 applied":      {Status: 408, Apply: true},
	"500":              {Status: 500},
	"500 applied":      {Status: 500, Apply: true},
	"501":              {Status: 501},
	"503":              {Status: 503},
	"504 applied":      {Status: 504, Apply: true},
	"302":              {Status: 302, Header: http.Header{"Location": {"/login"}}},
	"303 applied":      {Status: 303, Apply: true, Header: http.Header{"Location": {"/v2"}}},
	"204 applied":      {Status: 204, Apply: true},
	"200 not applied":  {Status: 200},
	"login page":       {Status: 200, Body: new("<html>")},
	"garbage":          {Body: new("{")},
	"no processor_ids": {EditJSON: func(o map[string]any) { delete(o, "processor_ids") }},
	"another stream":   {Edit: func(s *streamstest.Stream) { s.ID += "'" }},
	"reset before":     {ResetBefore: true},
	"reset after":      {ResetAfter: true},
	"cut off":          {Truncate: true},
	"moved":            {},
	"429, at once":     {Status: 429, Header: http.Header{"Retry-After": {"0"}}},
	"503, tomorrow":    {Status: 503, Header: http.Header{"Retry-After": {"86400"}}},
}

// interruptions are faults during which somebody interrupts Terraform.
var interruptions = map[string]streamstest.Fault{
	"interrupt":       {},
	"interrupt, 500":  {Status: 500, Apply: true},
	"interrupt, late": {ResponseDelay: 5 * time.Millisecond},
}

// slowFaults are responses that come after the request timeout, or after the client has given up.
var slowFaults = map[string]streamstest.Fault{
	"no response":            {Delay: time.Minute},
	"too late":               {ResponseDelay: time.Minute},
	"interrupt, no response": {Delay: time.Minute},
	"interrupt, too late":    {ResponseDelay: time.Minute},
}

// changeByOthers changes a stream as somebody else would.
func (c *terraformCore) changeByOthers(t *rapid.T) {
	id := rapid.SampledFrom(historyStreams).Draw(t, "changed stream")
	c.limit(id)
	switch rapid.IntRange(0, 2).Draw(t, "change") {
	case 0:
		c.service.Seed(streamstest.Stream{ID: id, ProcessorIDs: drawProcessors(t)})
	case 1:
		c.service.Seed(streamstest.Stream{ID: id, TerminalID: "terminal-" + strconv.Itoa(rapid.IntRange(1, 3).Draw(t, "terminal"))})
	case 2:
		c.service.Remove(id)
	}
}
