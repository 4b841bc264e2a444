package coretest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// mayBeRepeated are the streams whose sets a group may send again although its configuration has not changed: an earlier
// operation failed, or another object of the stream may leave it.
func (c *terraformCore) mayBeRepeated() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	repeats, found := maps.Clone(c.doubtful), map[string]bool{}
	for _, s := range c.objects() {
		for _, id := range s.streams() {
			repeats[id], found[id] = repeats[id] || found[id], true
		}
	}
	return repeats
}

// processRules predicts what one process of the provider sends. It states the rules of session.go once more, from the
// calls that the process gets. It needs steps in turn: the order of the steps decides.
type processRules struct {
	claims  map[string]claimed // by stream: what the plans of this process have given it
	written map[string]bool    // streams whose set a resource of this process has sent
	blocked map[string]bool    // streams of a failed operation whose resource stays in the state
	repeats map[string]bool    // see mayBeRepeated
}

// claimed is what another resource does with a stream.
type claimed struct {
	set []string
	reliance
}

type reliance int

const (
	sendsSet reliance = iota
	maySend
	sendsNothing // the set must stay attached
)

func newProcessRules(repeats map[string]bool) *processRules {
	return &processRules{
		repeats: repeats,
		claims:  map[string]claimed{}, written: map[string]bool{}, blocked: map[string]bool{},
	}
}

// notePlan takes note of a plan of a resource. After an error, the resource has claimed its streams, unless two sets conflict.
func (r *processRules) notePlan(prior tftypes.Value, planned Managed, diags Diagnostics) {
	if planned.Value.IsNull() {
		return
	}
	sent, may := r.plannedSends(prior, planned.Value)
	for id, set := range setsOf(planned.Value) {
		set, ok := set.([]string)
		if !ok || slices.Contains(set, fmt.Sprint(tftypes.UnknownValue)) || diags.about("Conflicting Processor Sets", id) {
			continue
		}
		reliance := sendsSet
		if _, ok := sent[id]; !ok || diags.about("Another Resource Keeps the Stream", id) {
			reliance = sendsNothing
		} else if may[id] {
			reliance = maySend
		}
		r.claims[id] = claimed{set, max(reliance, r.claims[id].reliance)}
	}
}

// about reports whether there is a diagnostic about a stream.
func (d Diagnostics) about(summary, id string) bool {
	return slices.ContainsFunc(d, func(d *tfprotov6.Diagnostic) bool {
		return d.Summary == summary && strings.Contains(d.Detail, strconv.Quote(id))
	})
}

// plannedSends returns the sets that the apply of a plan sends, by stream, and the streams where it may as well send nothing.
func (r *processRules) plannedSends(prior, planned tftypes.Value) (sends map[string][]string, may map[string]bool) {
	sends, may = map[string][]string{}, map[string]bool{}
	if AttributesOf(planned)["last_edited"].IsKnown() {
		return sends, may
	}
	var was map[string]any
	sameTriggers := false
	if !prior.IsNull() {
		was = setsOf(prior)
		sameTriggers = EqualValues(AttributesOf(prior)["triggers"], AttributesOf(planned)["triggers"])
	}
	for id, set := range setsOf(planned) {
		before, inState := was[id]
		same := inState && sameTriggers && reflect.DeepEqual(before, set)
		if typeNameOf(planned) == SingleName || !same || r.repeats[id] {
			sends[id], _ = set.([]string)
			may[id] = typeNameOf(planned) == GroupName && same
		}
	}
	return sends, may
}

// successorOf returns what another resource does with a stream that a resource leaves, or nil.
func (r *processRules) successorOf(id string) *claimed {
	if c, ok := r.claims[id]; ok {
		return &c
	}
	return nil
}

// departedStream is a stream that a resource leaves.
type departedStream struct {
	id       string
	was      []string // in the state
	detaches bool
	next     *claimed // the successor in the plan
}

// leaveSends returns the sets that departures send, by stream, and adds the streams where they may as well send nothing.
func (r *processRules) leaveSends(departures []departedStream, may map[string]bool) map[string][]string {
	sent := map[string][]string{}
	for _, d := range departures {
		next := d.next
		if next == nil {
			next = r.successorOf(d.id)
		}
		switch {
		case r.written[d.id], next != nil && next.reliance == sendsSet:
		case next != nil && slices.Equal(next.set, d.was):
		case next != nil:
			sent[d.id], may[d.id] = next.set, next.reliance == maySend
		case d.detaches:
			sent[d.id] = []string{}
		}
	}
	return sent
}

// departures returns the departures of an object from streams.
func (s *stored) departures(ids []string, onDestroy string, next map[string]*claimed) []departedStream {
	var all []departedStream
	for _, id := range ids {
		was, _ := s.sets()[id].([]string)
		all = append(all, departedStream{id, was, onDestroy != "keep", next[id]})
	}
	return all
}
