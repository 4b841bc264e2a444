package coretest

import (
	"slices"
	"sync"
	"testing"
)

// What histories must come to. A test of rules for what is never drawn cannot fail.
const (
	besideSuccessor = "an old object beside its replacement"
	besideTaker     = "an old object beside another resource that has its stream"
	besideCreate    = "such an old object, and a create"
	decisiveOrder   = "such an old object is read first, and its destroy is planned last"
	withoutRefresh  = "such an old object, without a refresh"
	withReads       = "such an old object, with detect_drift"
	shifted         = "a resource goes to the stream of another one, which goes to another stream"
	waitsMeanwhile  = "a call of a plan waits while another one is made"
	refusedImport   = "an import of another stream is refused"
	lateImport      = "an import of another stream is replaced, whose id is known after apply"
	lateGroupImport = "a group is imported with another stream, and its streams are known after apply"
)

var arrangements = []string{
	besideSuccessor, besideTaker, besideCreate, decisiveOrder, withoutRefresh, withReads, shifted, waitsMeanwhile, refusedImport,
	lateImport, lateGroupImport,
}

// reached counts the runs of histories that come to something, and at "" the histories.
var reached = struct {
	sync.Mutex
	runs map[string]int
}{runs: map[string]int{}}

func reach(what string) {
	reached.Lock()
	defer reached.Unlock()
	reached.runs[what]++
}

func checkReached(t *testing.T) {
	t.Logf("runs: %v", reached.runs)
	for _, what := range arrangements {
		if reached.runs[what] == 0 && reached.runs[""] >= 500 {
			t.Errorf("%d histories do not come to %q", reached.runs[""], what)
		}
	}
}

// noteReached notes what a plan has come to.
func (c *terraformCore) noteReached(changes []change, opts options) {
	left := map[string]string{} // the addresses of replaced objects, by stream
	creates := slices.ContainsFunc(changes, func(ch change) bool { return ch.verb == create })
	for _, ch := range changes {
		if ch.verb.replaces() {
			for _, id := range ch.prior.streams() {
				left[id] = ch.addr
			}
		}
	}
	for _, ch := range changes {
		for id := range ch.wanted.sets {
			if from := left[id]; from != "" && from != ch.addr && ch.verb.replaces() {
				reach(shifted)
			}
		}
		if !ch.deposed {
			continue
		}
		for _, other := range changes {
			if other.verb.replaces() || other.deposed {
				continue
			}
			for _, id := range ch.prior.streams() {
				if c.here(other.prior).sets()[id] == nil || other.wanted.sets[id] == nil {
					continue
				}
				for what, comes := range map[string]bool{
					besideSuccessor: other.addr == ch.addr,
					besideTaker:     other.addr != ch.addr,
					besideCreate:    creates && !opts.keepsState,
					decisiveOrder:   !opts.keepsState && c.decisive(ch.addr, other.addr),
					withoutRefresh:  opts.keepsState,
					withReads:       c.drift,
				} {
					if comes {
						reach(what)
					}
				}
			}
		}
	}
}

// noteLeft notes that an object leaves streams with which it was imported.
func (c *terraformCore) noteLeft(s *stored, b resourceBlock) {
	if slices.ContainsFunc(s.streams(), func(id string) bool { _, stays := b.sets[id]; return !stays }) {
		reach(map[bool]string{false: lateImport, true: lateGroupImport}[b.group])
	}
}

// decisive reports whether an old object is read first, and its destroy planned last.
func (c *terraformCore) decisive(old, beside string) bool {
	at := func(what string) int { return slices.Index(c.calls, what) }
	node, other := "plan "+old+" deposed 0", "plan "+beside
	const read, plan = " ReadResource", " PlanResourceChange"
	return at(node+read) < at(other+read) && at(other+plan) < at(node+plan)
}
