package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func groupSchema() *tfprotov6.Schema { return schemas().ResourceSchemas[coretest.GroupName] }

func nullGroup() coretest.Managed {
	return coretest.Managed{Value: tftypes.NewValue(groupSchema().ValueType(), nil)}
}

// group makes a configuration of a group.
func group(streams map[string][]string, others coretest.Attributes) tftypes.Value {
	all := coretest.Attributes{}
	for id, processors := range streams {
		all[id] = processors
	}
	a := coretest.Attributes{"streams": all}
	maps.Copy(a, others)
	return coretest.ToTerraform(groupSchema().ValueType(), a)
}

// sameSet gives n streams one set.
func sameSet(n int, processors ...string) map[string][]string {
	streams := map[string][]string{}
	for i := range n {
		streams[fmt.Sprintf("s%03d", i)] = processors
	}
	return streams
}

// with returns streams with another set for one of them.
func with(streams map[string][]string, id string, processors ...string) map[string][]string {
	streams = maps.Clone(streams)
	streams[id] = processors
	return streams
}

func without(streams map[string][]string, ids ...string) map[string][]string {
	streams = maps.Clone(streams)
	for _, id := range ids {
		delete(streams, id)
	}
	return streams
}

func seeds(streams map[string][]string) []streamstest.Stream {
	return streamstest.Streams(slices.Sorted(maps.Keys(streams))...)
}

// wantStreams fails the test unless the state has exactly these streams.
func (r *resourceRun) wantStreams(want map[string][]string) {
	r.t.Helper()
	if !coretest.EqualValues(coretest.AttributesOf(r.state.Value)["streams"], coretest.AttributesOf(group(want, nil))["streams"]) {
		r.t.Fatalf("the state has other streams: %v", coretest.FromTerraform(coretest.AttributesOf(r.state.Value)["streams"]))
	}
}

// errorsAt returns the summaries of the errors by the key in streams; "" is streams itself.
func errorsAt(diags coretest.Diagnostics) map[string][]string {
	found := map[string][]string{}
	for _, d := range diags {
		if d.Severity != tfprotov6.DiagnosticSeverityError {
			continue
		}
		key := ""
		if steps := d.Attribute.Steps(); len(steps) > 1 {
			key = string(steps[1].(tftypes.ElementKeyString))
		}
		found[key] = append(found[key], d.Summary)
	}
	return found
}

// patches are the requests that set streams.
func patches(streams map[string][]string) []string {
	var lines []string
	for id, processors := range streams {
		body, _ := json.Marshal(map[string][]string{"processor_ids": append([]string{}, processors...)})
		lines = append(lines, fmt.Sprintf("PATCH /v2/streams/%s %s", id, body))
	}
	return lines
}

// refuse makes the service respond to the requests for some streams with faults.
func refuse(service *streamstest.Service, faults map[string]streamstest.Fault) {
	service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
		if fault, ok := faults[r.Target[strings.LastIndex(r.Target, "/")+1:]]; ok {
			return &fault
		}
		return nil
	})
}
