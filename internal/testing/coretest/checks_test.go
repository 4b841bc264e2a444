package coretest

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// run runs `terraform apply` and checks what must hold after every run. It reports whether there was no error.
func (c *terraformCore) run(cfg config, opts options) bool {
	c.t.Helper()
	for _, d := range c.deployments {
		d.service.ForgetRequests()
	}
	defer c.checkOthersUntouched()
	before := maps.Clone(c.state)
	for from, to := range opts.moved {
		c.state[to] = c.state[from]
		delete(c.state, from)
	}
	for _, addr := range opts.tainted {
		c.state[addr].current.tainted = true
	}
	c.shared = c.sharedStreams(cfg, opts)
	c.keptStreams = c.keptBesideOldObjects(cfg, opts)
	c.notePrior(cfg, opts)
	c.unrefreshed, c.lateGroups = opts.keepsState, streamNames{}
	for addr, b := range cfg {
		if is := c.state[addr]; is != nil && b.group && b.lateStream {
			c.lateGroups.add(c.here(is.current).streams()...)
		}
	}
	changes, refreshed := c.planTwice(cfg, opts)
	for _, r := range c.service.Requests() {
		if !c.drift || r.Method != http.MethodGet {
			c.t.Fatalf("a plan sent %s", r)
		}
	}
	targeted := maps.Clone(cfg)
	maps.DeleteFunc(targeted, func(addr string, _ resourceBlock) bool { return !opts.targeted(addr) })
	found := c.drift || len(opts.importIDs) > 0
	read := found && slices.ContainsFunc(slices.Collect(maps.Values(targeted)), func(b resourceBlock) bool { return len(b.ignores) > 0 })
	if c.hasFailure("Conflicting Processor Sets") && len(conflicts(targeted, c.kept(targeted), true)) == 0 && !read { // and kept

		c.t.Fatalf("a plan refuses a conflict that the configuration does not have: %v", c.failures)
	}
	c.noteReached(changes, opts)
	if len(c.failures) > 0 {
		c.state = before // a plan that fails changes no state
		return false
	}
	for _, ch := range changes {
		if _, has := targeted[ch.addr]; has && ch.wanted.sets != nil {
			targeted[ch.addr] = ch.wanted
		}
	}
	cfg = maps.Clone(cfg)
	maps.Copy(cfg, targeted)
	if ids := conflicts(targeted, nil, false); len(ids) > 0 {
		c.t.Fatalf("a plan gives streams %q two sets each", ids)
	}
	for _, id := range conflicts(targeted, nil, true) {
		c.limit(id) // a set that ignore_changes keeps, and one that is known after apply: core does not call the resource that keeps
	}
	c.service.ForgetRequests()
	attached, had := c.knownToBeAttached(), streamNames{}
	for _, s := range c.objects() {
		had.add(c.here(s).streams()...)
	}
	if opts.meanwhile != nil {
		opts.meanwhile()
	}
	c.apply(changes, refreshed, opts)
	c.checkRequests(cfg, opts, attached, had)
	c.checkStates(cfg, opts)
	return len(c.failures) == 0
}

// hasDuplicates reports whether two objects of the state have a stream with the same set, perhaps after a read. If one of them leaves,
// the other one may be planned before, and stay as it is, or send its set again: only then, the stream changes hands.
func (c *terraformCore) hasDuplicates(opts options) bool {
	return c.areShared(opts, func(id string, set any) string {
		if c.drift {
			return id
		}
		return fmt.Sprint(id, set)
	})
}

// isShared reports whether two objects of the state have a stream. If the outcome of one of them that leaves is in doubt, the other one
// may be planned before, or after a third one has claimed the stream: only some of these plans say so.
func (c *terraformCore) isShared(opts options) bool {
	return c.areShared(opts, func(id string, _ any) string { return id })
}

// areShared reports whether two objects have a stream with one key. A plan that does not know its deployment takes all objects for those
// of it.
func (c *terraformCore) areShared(opts options, key func(id string, set any) string) bool {
	found := streamNames{}
	for _, s := range c.objects() {
		if !opts.lateAddress {
			s = c.here(s)
		}
		for id, set := range s.sets() {
			if found[key(id, set)] {
				return true
			}
			found.add(key(id, set))
		}
	}
	return false
}

// kept is a configuration as ignore_changes may make it.
func (c *terraformCore) kept(cfg config) config {
	return cfg.with(func(addr string, b *resourceBlock) {
		if is := c.state[addr]; is != nil && is.current != nil {
			*b = b.over(is.current.Value)
		}
	})
}

// planTwice plans twice in some runs, in two orders of the calls, and compares the warnings. A plan that fails leaves calls out. If
// the service has lost a stream, a plan that reads it fails, unless the refresh of another resource has told before. What
// ignore_changes keeps in the first plan of a replacement counts for other resources until the second plan.
func (c *terraformCore) planTwice(cfg config, opts options) ([]change, map[string]*instance) {
	kept := !reflect.DeepEqual(c.kept(cfg), cfg)
	lost := c.drift && slices.ContainsFunc(historyStreams, func(id string) bool { return c.attached(id) == nil })
	if !opts.plansTwice || lost || kept {
		return c.plan(cfg, opts)
	}
	c.plan(cfg, opts)
	failed, printed := len(c.failures) > 0, slices.Sorted(slices.Values(c.printed))
	changes, refreshed := c.plan(cfg, opts)
	byOrder := func(s string) bool {
		return strings.Contains(s, leaveGroup) || s == changesHands && c.hasDuplicates(opts) ||
			strings.Contains(s, "Outcome of an Earlier Operation Unknown") && c.isShared(opts)
	}
	printed, c.printed = slices.DeleteFunc(printed, byOrder), slices.DeleteFunc(c.printed, byOrder)
	if again := len(c.failures) > 0; failed != again {
		c.t.Fatalf("a plan fails in one order of the calls only")
	}
	if again := slices.Sorted(slices.Values(c.printed)); !failed && !slices.Equal(printed, again) {
		c.t.Fatalf("a plan prints in one order of the calls\n%q\nand in another one\n%q", printed, again)
	}
	return changes, refreshed
}

// keptBesideOldObjects returns the streams of objects which an earlier apply has left behind, if the plan reads them and the
// resource that has the stream now, which keeps it. No warning excuses that such a stream ends without the set of its resource.
func (c *terraformCore) keptBesideOldObjects(cfg config, opts options) streamNames {
	old, kept, left := streamNames{}, streamNames{}, streamNames{}
	for addr, is := range c.state {
		for _, s := range is.deposed {
			old.add(c.here(s).streams()...)
		}
		b := cfg[addr]
		replaced := is.current != nil && is.current.tainted || slices.Contains(opts.replace, addr) || b.lateStream
		for _, id := range c.here(is.current).streams() {
			if _, stays := b.sets[id]; stays && !replaced && opts.targeted(addr) {
				kept.add(id)
			} else {
				left.add(id)
			}
		}
	}
	maps.DeleteFunc(kept, func(id string, _ bool) bool { return !old[id] || left[id] || opts.keepsState })
	return kept
}

// checkLeftAlone checks the destroy of an object that an earlier apply has left behind, in an apply without a create: it empties
// no stream that a resource has with processors, whatever the plan has read.
func (c *terraformCore) checkLeftAlone(addr string) {
	for _, r := range c.service.Requests()[c.sent:] {
		for other, is := range c.state {
			if set, _ := c.here(is.current).sets()[r.StreamID].([]string); len(set) > 0 && r.Body == patchBody(nil) {
				c.t.Fatalf("destroy deposed %s: sent %s, and %s has the stream", addr, r, other)
			}
		}
	}
}

// checkDetached checks the destroy of an object whose destroy has failed in the apply of its replacement: it detaches the
// processors of streams that nobody else has.
func (c *terraformCore) checkDetached(addr string, s *stored) {
	if s.text("on_destroy") == "keep" || c.unrefreshed {
		return
	}
	for _, id := range c.here(s).streams() {
		if got, _ := c.attached(id).([]string); len(got) > 0 && c.shared[id] < 2 && !c.changed[id] {
			c.t.Fatalf("destroy deposed %s: stream %q has %v, and nobody else has the stream", addr, id, got)
		}
	}
}

// checkStates checks that each state is that of the service. After an error, the next plan may send the set again.
func (c *terraformCore) checkStates(cfg config, opts options) {
	c.t.Helper()
	inState, untrue := streamNames{}, map[*deployment]streamNames{}
	for _, d := range c.deployments {
		untrue[d] = streamNames{}
	}
	for addr, is := range c.state {
		if len(c.failures) == 0 && !opts.lateAddress && opts.targeted(addr) && c.here(is.current) == nil {
			c.t.Fatalf("%s: the state is that of deployment %s, and %s is configured", addr, is.current.text("deployment"), c.name)
		}
		for _, s := range is.objects() {
			d := c.deploymentOf(s)
			for id, got := range s.sets() {
				if d == c.deployment {
					inState.add(id)
				}
				truth := d.attached(id)
				if reflect.DeepEqual(got, truth) {
					continue
				}
				untrue[d].add(id)
				if d == c.deployment && !opts.targeted(addr) {
					c.limit(id) // core does not call the provider for this resource
				}
				if !d.limited[id] && (len(c.failures) == 0 && d == c.deployment || !c.sentAgain(d, id)) {
					c.t.Fatalf("%s: stream %q has %v in the state, %v in the service", addr, id, got, truth)
				}
			}
		}
	}
	for _, b := range cfg {
		inState.add(slices.Collect(maps.Keys(b.sets))...)
	}
	for id := range c.detached {
		if got, _ := c.attached(id).([]string); len(got) > 0 && !inState[id] && !c.limited[id] {
			c.t.Fatalf("stream %q should be detached and has %v", id, got)
		}
	}
	for _, d := range c.deployments {
		maps.DeleteFunc(d.limited, func(id string, _ bool) bool { return !untrue[d][id] })
	}
}

// sentAgain reports whether the next plan sends the set of a stream of a deployment, or the empty set: it has a mark.
func (c *terraformCore) sentAgain(d *deployment, id string) bool {
	return slices.ContainsFunc(c.objects(), func(s *stored) bool {
		_, has := s.sets()[id]
		return has && c.deploymentOf(s) == d && s.marked(id)
	})
}

// runClean is a run without faults, which must reach the configuration.
func (c *terraformCore) runClean(cfg config) {
	c.t.Helper()
	c.resolveRefusals(cfg)
	reported, again := map[string]bool{}, false
	for !c.run(cfg, options{}) || len(c.limited) > 0 {
		for _, failure := range slices.Compact(slices.Sorted(slices.Values(c.failures))) {
			if reported[failure] || !slices.ContainsFunc(reportedOnce, func(summary string) bool { return strings.Contains(failure, summary) }) {
				c.t.Fatalf("a run without faults fails: %s", failure)
			}
			reported[failure] = true
		}
		if len(c.failures) == 0 && again {
			c.t.Fatalf("all sets were sent, but the states of %v are untrue", c.limited)
		}
		if c.hasFailure(deploymentNotKnown) { // as the error says
			c.refreshOnly()
		}
		if !c.hasFailure(keepsTheStream) { // the new triggers are in the state, and the group may not be applied yet
			maps.DeleteFunc(reported, func(failure string, _ bool) bool { return strings.Contains(failure, keepsTheStream) })
		}
		if c.hasFailure(importDiffers) {
			c.removeWrongImports(cfg)
		}
		if c.hasFailure(otherProcessors) || c.hasFailure(cannotBeChecked) { // as the errors say
			cfg = cfg.with(func(_ string, b *resourceBlock) { b.onCreate = "replace" })
			c.resolveRefusals(cfg) // of an old object of another deployment, whose replacement was refused in the apply
		}
		if len(c.limited) > 0 || c.hasFailure(keepsTheStream) {
			cfg, again = cfg.withNewTriggers(), true // as the diagnostics say
		}
	}
	c.checkNextPlanEmpty(cfg)
}

const leaveGroup = "Streams Leave the Group" // unless another resource has claimed them by then

const keepsTheStream = "Another Resource Keeps the Stream"

// reportedOnce are the errors of a run without faults. Each resource reports one at most once.
var reportedOnce = []string{
	"Unexpected Change of the Stream", // somebody else has moved the stream
	"inconsistent final plan",         // see createOrUpdate
	keepsTheStream,                    // again if another error came between
	otherProcessors, cannotBeChecked, importDiffers,
	deploymentNotKnown, // an older CLI plans the destroy before the refresh that records the deployment
}

// removeWrongImports runs `terraform state rm` for the imports of other streams.
func (c *terraformCore) removeWrongImports(cfg config) {
	for addr, is := range c.state {
		if is.current != nil && is.current.imported == unconfirmed && slices.ContainsFunc(is.current.streams(), func(id string) bool {
			_, has := cfg[addr].sets[id]
			return !has
		}) {
			is.current = nil
		}
	}
}

// refreshOnly runs `terraform apply -refresh-only`.
func (c *terraformCore) refreshOnly() {
	p := c.startProvider(1, false)
	for addr, is := range c.state {
		if is.current != nil {
			is.current, _ = c.refresh(p, addr, is.current, options{})
			if is.current = is.current.unlessGone(); is.current != nil {
				is.current.imported = is.current.imported.ended()
			}
		}
	}
}

func (c *terraformCore) hasFailure(summary string) bool {
	return slices.ContainsFunc(c.failures, func(failure string) bool { return strings.Contains(failure, summary) })
}

// checkRequests checks the requests of an apply: each sends a configured set, or the empty set to a stream of the state that
// nothing keeps, or after a warning.
func (c *terraformCore) checkRequests(cfg config, opts options, attached, had streamNames) {
	c.t.Helper()
	c.noteFound()
	for _, r := range c.service.Requests() {
		c.t.Logf("%s", r)
		if c.drift && r.Method == http.MethodGet {
			continue // core plans each create again before it applies the create
		}
		var configured []string
		late, said := false, c.warned
		if c.leftBehind[r.StreamID] {
			said = c.forewarned
		}
		for addr, b := range cfg {
			if set, ok := b.sets[r.StreamID]; ok {
				configured = append(configured, patchBody(set))
				late = late || !opts.targeted(addr) || b.lateStream && len(c.failures) > 0 // an apply that fails may not come to it
				// Core does not show the warnings of the second plan of a replacement, in which ignore_changes ignores nothing.
				late = late || len(b.ignores) > 0 && slices.Contains(opts.replace, addr)
			}
		}
		kept := len(configured) > 0
		if opts.action != nil && opts.action.stream() == r.StreamID {
			configured = append(configured, patchBody(opts.action.sets[r.StreamID]))
			late = true // no plan knows of an action
		}
		switch detaches := r.Body == patchBody(nil); {
		case r.Method != http.MethodPatch, !detaches && !slices.Contains(configured, r.Body), len(configured) == 0 && !had[r.StreamID]:
			c.t.Fatalf("an apply sent %s", r)
		case slices.Contains(configured, r.Body), !kept, !r.Applied, !attached[r.StreamID], said[r.StreamID], late:
		default:
			c.t.Fatalf("stream %q was emptied, the configuration keeps it, and nothing was said of it", r.StreamID)
		}
		if r.Applied {
			attached[r.StreamID] = r.Body != patchBody(nil)
		}
	}
}

// noteFound notes which streams a read has returned at the address that is configured.
func (c *terraformCore) noteFound() {
	found := c.found[c.provider["base_url"]]
	if found == nil {
		found = streamNames{}
		c.found[c.provider["base_url"]] = found
	}
	for _, r := range c.service.Requests() {
		if r.Method == http.MethodGet && r.Status == http.StatusOK {
			found.add(r.StreamID)
		}
	}
}

// checkDropped checks that a refresh drops streams only if reads have returned one of the object at this address, perhaps an
// earlier object, or one that it was to have: the deployment may not serve the route.
func (c *terraformCore) checkDropped(what string, before, after *stored) {
	c.noteFound()
	dropped, asked := len(after.unlessGone().streams()) < len(before.streams()), slices.Collect(maps.Keys(before.asked))
	asked = append(asked, before.streams()...)
	if dropped && !slices.ContainsFunc(asked, func(id string) bool { return c.found[c.provider["base_url"]][id] }) {
		c.t.Fatalf("%s: streams are dropped, and no read has ever returned one of %q", what, asked)
	}
}

const importDiffers = "Imported Stream Differs"

// checkImport checks that a plan fails if the run is that of an import, and the configuration has another stream, and only then. The plan
// that an apply makes of a group does not know whose run it is, unless the provider does not know the command.
func (c *terraformCore) checkImport(what string, prior *stored, b resourceBlock, again bool, diags Diagnostics) {
	differs := prior != nil && !prior.tainted && (c.here(prior) != nil || c.lateDeployment) && (!b.lateStream || again) &&
		(prior.imported == unconfirmed || prior.imported == inItsRun && !again) &&
		slices.ContainsFunc(prior.streams(), func(id string) bool { _, has := b.sets[id]; return !has })
	refused := slices.ContainsFunc(diags, func(d *tfprotov6.Diagnostic) bool { return d.Summary == importDiffers })
	if refused {
		reach(refusedImport)
	}
	if refused != differs && (refused || !diags.Failed()) {
		c.t.Fatalf("%s: the import of %q, for %v, is refused: %t", what, prior.streams(), b.sets, refused)
	}
}

func patchBody(ids []string) string {
	return `{"processor_ids":` + strings.ReplaceAll(quotedList(ids), ", ", ",") + `}`
}

// checkNextPlanEmpty fails unless the next plan has no changes, at another address of the deployment.
func (c *terraformCore) checkNextPlanEmpty(cfg config) {
	c.t.Helper()
	c.configureFor(c.deployment, true)
	c.overlaps, c.patient = c.timePasses != nil, true // resources with one stream have planned both when they decide
	changes, _ := c.plan(cfg.known(), options{})
	if len(c.failures) > 0 {
		c.t.Fatalf("the next plan fails: %s", c.failures)
	}
	for _, ch := range changes {
		if ch.verb != noop {
			c.t.Fatalf("the next plan is not empty: %s %s", ch.verb, ch.addr)
		}
	}
}

// The summaries of refusals with on_create = "refuse".
const (
	otherProcessors = "Processors Would Be Detached"
	cannotBeChecked = "Streams Cannot Be Checked"
)

// priorSets is what a plan that is not refused need not name, because it is in the state or in the configuration.
type priorSets struct {
	all  map[string][]string // by stream
	late bool                // the plan does not know the deployment
}

func (c *terraformCore) notePrior(cfg config, opts options) {
	c.prior = priorSets{map[string][]string{}, opts.lateAddress}
	add := func(id string, set any) {
		processors, _ := set.([]string)
		c.prior.all[id] = append(c.prior.all[id], processors...)
	}
	for _, s := range c.objects() {
		for id, set := range c.here(s).sets() {
			add(id, set)
		}
	}
	blocks := []resourceBlock{}
	for _, b := range cfg {
		blocks = append(blocks, b)
	}
	if opts.action != nil {
		blocks = append(blocks, *opts.action)
	}
	for _, b := range blocks {
		for id, set := range b.sets {
			add(id, set)
		}
	}
}

func minus(set any, others []string) []string {
	processors, _ := set.([]string)
	return slices.DeleteFunc(slices.Clone(processors), func(id string) bool { return slices.Contains(others, id) })
}

// checkRefused checks that a plan refuses only to detach what is not planned.
func (c *terraformCore) checkRefused(what string, ch change, diags Diagnostics) {
	for id, set := range ch.wanted.sets {
		if !strings.Contains(diags.String(), otherProcessors+fmt.Sprintf(": Stream %q has", id)) {
			continue
		}
		if ch.wanted.onCreate != "refuse" || len(minus(c.attached(id), set)) == 0 {
			c.t.Fatalf("%s: refuses to detach from %q, which has %v", what, id, c.attached(id))
		}
	}
}

// checkUnread checks that a plan fails if a stream could not be read whose processors it may not detach. Beside a call that waits,
// others read the streams that the resource has already.
func (c *terraformCore) checkUnread(what string, b resourceBlock, prior *stored, diags Diagnostics) {
	for id := range b.sets {
		if prior.sets()[id] != nil && !prior.tainted {
			continue
		}
		var reads, failed int
		for _, r := range c.service.Requests()[c.sent:] {
			if r.Method == http.MethodGet && r.StreamID == id {
				reads++
				if r.Status != http.StatusOK && r.Status != http.StatusNotFound {
					failed++
				}
			}
		}
		if b.onCreate == "refuse" && reads > 0 && failed == reads && !diags.Failed() {
			c.t.Fatalf("%s: takes %q over without a read", what, id)
		}
	}
}

// attachedToNew returns what the streams have that a call takes over, also one that was imported without a read.
func (c *terraformCore) attachedToNew(o *applyCall) map[string]any {
	attached := map[string]any{}
	for id := range o.sets {
		if o.prior.sets()[id] == nil {
			attached[id] = c.attached(id)
		}
	}
	return attached
}

// isSilentOn reports whether only the second plan of a replacement takes a stream over with its set: core shows no warning of it.
func (ch change) isSilentOn(id string) bool {
	if !ch.verb.replaces() || ch.prior.tainted {
		return false
	}
	_, had := ch.prior.sets()[id]
	return had || !slices.Equal(ch.block.over(ch.prior.Value).sets[id], ch.block.sets[id])
}

// checkTakenOver checks what a call has detached from a stream that it takes over: with on_create = "refuse", nothing, and otherwise
// only what the plan has named, if it could know. An action may have set the stream since the create was planned.
func (c *terraformCore) checkTakenOver(o *applyCall, ch change, attached map[string]any) {
	for id, before := range attached {
		if len(o.requestsTo(id)) == 0 {
			continue
		}
		detached, others := minus(before, o.sets[id]), minus(before, append(o.sets[id], c.prior.all[id]...))
		blind := ch.wanted.lateStream || ch.wanted.lateProcessors || c.prior.late || c.changed[id] || ch.isSilentOn(id)
		switch {
		case ch.wanted.onCreate == "refuse" && !c.invoking && (!c.drift || len(detached) > 0):
			c.t.Fatalf("%s: may only add to %q, and has detached %v", o.what, id, detached)
		case c.drift && len(others) > 0 && !blind && !c.announced[id]:
			c.t.Fatalf("%s: takes %q over, which has %v of others, and the plan did not say so", o.what, id, others)
		}
	}
}
