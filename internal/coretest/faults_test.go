package coretest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

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
	names := slices.Sorted(maps.Keys(streamstest.Faults))
	switch kind := evenIndex(t, 100, "kind of faults"); {
	case kind < 22:
		names = interruptions // one ends the run
	case kind < 43:
		names = slowFaults
	}
	faults := make([]string, 24)
	for i := range faults {
		faults[i] = names[evenIndex(t, len(names), "fault")]
	}
	refreshFails := chance(t, 10, "faults in refresh") // an apply without a plan says little
	counts, script := map[string]int{}, c.script.last()
	c.service.Configure(func(o *streamstest.Options) { script.service = *o })
	c.service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		counts[r.Method+r.StreamID]++
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
		if strings.HasPrefix(name, interrupt) && (operating == "invoke" || c.next == nil && invoking) {
			return nil // StopProvider waits for the action, and the action for this request or the clock
		}
		shown := streamstest.RequestFault{Method: r.Method, StreamID: r.StreamID, N: counts[r.Method+r.StreamID]}
		shown.Name = strings.TrimPrefix(name, interrupt)
		if shown.Name != "" {
			script.faults = append(script.faults, shown)
		}
		if strings.HasPrefix(name, interrupt) {
			shown.Name = "is under way"
			script.notes = append(script.notes, fmt.Sprintf("Ctrl-C while %s (method, stream, number).", shown))
			// The request is under way, and the response must count.
			c.interrupted.Store(true)
			_, _ = running.Server.StopProvider(context.Background(), &tfprotov6.StopProviderRequest{})
		}
		return c.service.FaultByName(strings.TrimPrefix(name, interrupt), r.StreamID)
	})
	return func() {
		c.service.InjectFunc(nil)
		c.service.Configure(func(o *streamstest.Options) { *o = historyService(c.drift) })
	}
}

// interrupt is the beginning of the names of faults during which somebody interrupts Terraform.
const interrupt = "interrupt, "

var (
	interruptions = []string{interrupt, interrupt + "500 applied", interrupt + "late"}
	// slowFaults are responses that come after the request timeout, or after the client has given up.
	slowFaults = []string{interrupt + "no response", interrupt + "too late", "no response", "too late"}
)

// changeByOthers changes a stream as somebody else would.
func (c *terraformCore) changeByOthers(t *rapid.T) {
	id := rapid.SampledFrom(historyStreams).Draw(t, "changed stream")
	c.limit(id)
	defer func() {
		stream, _ := c.service.Stream(id)
		c.script.last().notes = append(c.script.last().notes, fmt.Sprintf("Within or after the run, somebody changes stream %s to %+v.", id, stream))
	}()
	switch rapid.IntRange(0, 2).Draw(t, "change") {
	case 0:
		c.service.Seed(streamstest.Stream{ID: id, ProcessorIDs: drawProcessors(t)})
	case 1:
		c.service.Seed(streamstest.Stream{ID: id, TerminalID: "terminal-" + strconv.Itoa(rapid.IntRange(1, 3).Draw(t, "terminal"))})
	case 2:
		c.service.Remove(id)
	}
}
