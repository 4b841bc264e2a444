package claims

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const groupActor = 2

// walk visits every world of one run.
type walk struct {
	configs  [3]config
	clean    bool // every request succeeds, and nothing is interrupted
	start    world
	orders   map[world]float64 // from a world to the ends
	end      func(*walk, world) float64
	refusals uint8 // of the plans, as bits
	problem  string
	history  string // of what follows the end with the problem
}

// from returns the number of orders from a world to the ends.
func (k *walk) from(w world) (orders float64) {
	if orders, seen := k.orders[w]; seen {
		return orders
	}
	if k.ends(w) {
		orders = k.atEnd(w)
	}
	k.next(w, func(_ event, then world) {
		if k.problem == "" {
			orders += k.from(then)
		}
	})
	k.orders[w] = orders
	return orders
}

func (k *walk) atEnd(w world) float64 {
	k.checkEnd(&w)
	if k.problem != "" {
		return 0
	}
	return k.end(k, w)
}

// shortest returns the shortest history to a problem.
func (k *walk) shortest() string {
	type origin struct {
		world
		event
	}
	k.problem = ""
	origins := map[world]origin{k.start: {}}
	queue := []world{k.start}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		history := func(w world, last ...string) string {
			for w != k.start {
				from := origins[w]
				last = append([]string{fmt.Sprintf("  %-45s service %v, states %v %v %v", from.event, processorSets[w.service],
					w.actors[0].current, w.actors[1].current, w.actors[2].current)}, last...)
				w = from.world
			}
			return strings.Join(last, "\n")
		}
		if k.ends(w) {
			if k.atEnd(w); k.problem != "" {
				return history(w, k.history)
			}
		}
		found := ""
		k.next(w, func(e event, then world) {
			if _, seen := origins[then]; !seen && found == "" {
				origins[then] = origin{w, e}
				queue = append(queue, then)
				if k.problem != "" {
					found = history(then, "  "+k.problem)
				}
			}
		})
		if found != "" {
			return found
		}
	}
	return "  the problem did not come back: " + k.problem
}

// role is what a run asks of one resource.
type role struct {
	name     string
	object   object // in the state
	old, new config
}

// scenario is a run of some resources, and the clean runs after it.
type scenario struct {
	roles     [3]role
	worlds    int
	cleanEnds map[cleanRun]float64
}

type cleanRun struct {
	world
	configs [3]config
}

// explore returns the number of orders, or a problem with its history.
func (s *scenario) explore() (orders float64, problem string) {
	k := &walk{orders: map[world]float64{}}
	for i, r := range s.roles {
		k.configs[i] = r.new
		k.start.actors[i].current = r.object
		if r.object.has {
			k.start.service = r.object.set
		}
	}
	s.cleanEnds = map[cleanRun]float64{}
	k.end = s.afterwards
	orders = k.from(k.start)
	s.worlds += len(k.orders)
	if k.problem == "" {
		return orders, ""
	}
	problem = k.problem
	history := k.shortest()
	return 0, fmt.Sprintf("%s: %s\n%s", s, problem, history)
}

func (s *scenario) String() string {
	var names []string
	for i, r := range s.roles {
		if r.name != "" {
			names = append(names, actorNames[i]+" "+r.name)
		}
	}
	return strings.Join(names, ", ")
}

// afterwards walks the clean runs after the end of a run: of its configuration, and of the one before.
func (s *scenario) afterwards(k *walk, w world) (orders float64) {
	if w.exceptions != 0 && w.untrue() {
		return 1
	}
	start := world{service: w.service}
	for i := range w.actors {
		start.actors[i].current, start.actors[i].deposed = w.actors[i].current, w.actors[i].deposed
	}
	var old, same [3]config
	for i, r := range s.roles {
		old[i], same[i] = r.old, r.new
		same[i].late, same[i].replace = false, false
	}
	orders = s.cleanly(k, start, same, "the clean run of the same configuration")
	if k.problem == "" && old != same {
		orders += s.cleanly(k, start, old, "the clean run of the old configuration")
	}
	for i := range old { // as if only one resource had the stream before
		one := old
		for j := range one {
			one[j].exists, one[j].wants = one[j].exists && j == i, one[j].wants && j == i
		}
		if k.problem == "" && one[i].wants && one != old && one != same {
			orders += s.cleanly(k, start, one, "a clean run that keeps one resource")
		}
	}
	return orders
}

func (s *scenario) cleanly(k *walk, start world, configs [3]config, what string) float64 {
	key := cleanRun{start, configs}
	if orders, seen := s.cleanEnds[key]; seen {
		return orders
	}
	clean := &walk{configs: configs, clean: true, start: start, orders: map[world]float64{}}
	clean.end = func(c *walk, w world) float64 {
		if Refusal(w.refused) != StreamIsKept {
			return 1
		}
		again := configs
		for i := range again {
			again[i].again = again[i].wants
		}
		if again == configs {
			c.fail("the stream is kept, although the keeping resource sends its set again")
			return 0
		}
		return s.cleanly(c, start, again, "once more, with another trigger")
	}
	orders := clean.from(start)
	s.worlds += len(clean.orders)
	if clean.problem != "" {
		k.problem = clean.problem
		k.history = " " + what + ":\n" + clean.shortest()
		return 0
	}
	s.cleanEnds[key] = orders
	return orders
}

// TestEveryOrder walks every order of the calls of Terraform core for up to three resources of one stream, with every
// outcome of every request and an interrupt after any event, and then clean runs.
func TestEveryOrder(t *testing.T) {
	begin := time.Now()
	all := scenarios(os.Getenv("CLAIMS_WALK") == "all")
	var next, worlds, failures atomic.Int64
	var total float64
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(all) || failures.Load() > 4 {
					return
				}
				s := &all[i]
				orders, problem := s.explore()
				worlds.Add(int64(s.worlds))
				mu.Lock()
				if total += orders; problem != "" {
					failures.Add(1)
					t.Error(problem)
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	t.Logf("%d scenarios, %d worlds, %.3g orders, %.1f s", len(all), worlds.Load(), total, time.Since(begin).Seconds())
}
