package coretest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"pgregory.net/rapid"

	"github.com/stream-management/terraform-provider-stream/internal/provider"
	"github.com/stream-management/terraform-provider-stream/internal/server"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

var schemas = sync.OnceValue(func() *Schemas { return SchemasOf(server.New("test", nil)()) })

// terraformCore is a model of Terraform core, as a provider sees it: which calls core makes for a configuration and a
// state, with which arguments and in which order, and which responses core accepts.
type terraformCore struct {
	t              rapid.TB
	*deployment    // the configured one
	deployments    []*deployment
	lateDeployment bool                            // the running process does not know the deployment
	start          func() tfprotov6.ProviderServer // a process of the provider
	provider       Attributes
	drift          bool
	attempts       int
	cli            cliVersion
	command        []string // the words of the CLI's command line; nil: the provider does not know them
	cyclic         bool     // Terraform would not have made the last apply
	script         []string
	scriptLate     string               // see lateResources
	state          map[string]*instance // by address
	found          map[any]streamNames  // a read has returned them, by base_url
	husks          map[string]bool      // resources without an instance in the state: nothing can move there, or be imported by the command

	next      func(active []*activeNode) int // chooses which of the active nodes of a walk makes its call
	starts    func(ready int) int            // chooses which of the ready nodes is started
	responded func(call)                     // called with each call, for next; may be nil
	walks     int                            // of the run; 1: the plan; 2: the apply
	sent      int                            // requests before the call in progress

	parallelism int         // of the run; 0: no limit
	overlaps    bool        // while a call of a plan waits, others are made
	patient     bool        // time passes only when all of them wait: the machine is fast
	calls       []string    // of the walk: nodes and names
	printed     []string    // by the walk: the summary of each diagnostic, with each stream that it names
	timePasses  func() bool // otherwise: whether it does

	running atomic.Pointer[Process] // the last one that was started

	failures []string // errors that the provider reported in this run, and nodes that core did not run to their end

	halts       func() bool // whether a node ends before its next call, after an interrupt; nil: no node does
	interrupted bool        // the current run
	callsLeft   int         // until the current apply is killed; 0: it is not
	destroysOld bool        // the call in progress destroys a deposed object of an earlier run

	invoking bool // the current apply has an action

	// Streams, in this process, but warned in this run.
	reported streamNames // the service has reported their set, after the last update with an unknown outcome
	doubtful streamNames // the outcome of an update is unknown, and nothing has been reported since
	failed   streamNames // an operation failed whose resource stays in the state with the stream
	warned   streamNames // one of saysEmptied, or an error, has named them
	written  streamNames // the set of a resource was sent in this process
	created  bool        // a create has succeeded in this process

	keptStreams streamNames // see keptBesideOldObjects
	prior       priorSets

	unrefreshed bool             // the run has -refresh=false
	lateGroups  streamNames      // those of the state of a group whose streams are known after apply
	shared      map[string]int   // see sharedStreams
	leftBehind  streamNames      // those of deposed objects of earlier runs, which a resource has that the apply does not call
	announced   streamNames      // a diagnostic of the plan has named them
	forewarned  streamNames      // likewise, one of saysEmptied
	unforeseen  streamNames      // no plan can say what the current apply does to them
	called      map[*stored]bool // the provider was called for these objects in the current apply
	changed     streamNames      // by others, between the plan and the apply
	detached    streamNames      // a destroy or a group has left them without a diagnostic in the current apply, and detaches
}

// cliVersion is what versions of the CLI do differently.
type cliVersion struct {
	destroysUnrefreshed bool // plans the destroy of what is no longer configured before its refresh: Terraform 1.9 to 1.11
	identities          bool // Terraform 1.12
	actions             bool // Terraform 1.14
	actionsInNodes      bool // in the node of the object that triggers them, also of one that has failed: Terraform 1.16
	removes             bool // removed blocks with destroy = false: Terraform 1.7, OpenTofu 1.10
	readsForgotten      bool // refreshes what it removes from the state: Terraform before 1.9, OpenTofu
}

type streamNames map[string]bool

func (s streamNames) add(ids ...string) {
	for _, id := range ids {
		s[id] = true
	}
}

// objects returns all objects of the state.
func (c *terraformCore) objects() []*stored {
	var all []*stored
	for _, addr := range slices.Sorted(maps.Keys(c.state)) {
		all = append(all, c.state[addr].objects()...)
	}
	return all
}

// newTerraformCore returns a core with an empty state, and services with the streams of histories.
func newTerraformCore(t interface {
	rapid.TB
	Cleanup(func())
}, drift bool, attempts int,
) *terraformCore {
	t.Helper()
	deployments, dial := deploymentsInMemory(t, streamstest.Options{ServeGet: drift})
	c := &terraformCore{
		t:           t,
		deployments: deployments,
		drift:       drift,
		attempts:    attempts,
		provider: Attributes{
			"detect_drift": drift, "max_concurrent_requests": 1, // the streams of a group in turn
			"retry": Attributes{"max_attempts": attempts, "min_backoff": "1ns", "max_backoff": "1ns"},
		},
		next:  func([]*activeNode) int { return 0 },
		state: map[string]*instance{}, found: map[any]streamNames{}, husks: map[string]bool{},
	}
	c.start = server.New("test", &provider.Host{Dial: dial, Command: func() []string { return c.command }})
	c.configureFor(deployments[0], false)
	return c
}

// startProvider starts and configures a process of the provider, to be called from nodes.
func (c *terraformCore) startProvider(walk int, lateAddress bool) *Process {
	c.t.Helper()
	c.walks = walk
	c.reported, c.doubtful, c.failed, c.written, c.created = streamNames{}, streamNames{}, streamNames{}, streamNames{}, false
	configured := maps.Clone(c.provider)
	if lateAddress {
		configured["base_url"] = tftypes.UnknownValue
	}
	c.lateDeployment = lateAddress && configured["deployment"] == nil
	p := &Process{T: c.t, Server: c.start(), Schemas: schemas(), Limit: time.Hour} // of a clock that does not wait
	c.running.Store(p)
	p.Configure(configured)
	return p
}

// noErrors records the diagnostics of a call, and reports whether there are no errors. One that names no stream counts for all
// streams of the call.
func (c *terraformCore) noErrors(what string, diags Diagnostics, streams ...string) bool {
	if len(diags) > 0 {
		c.t.Logf("%s: %s", what, diags)
	}
	for _, d := range diags {
		named := namedIn(d, streams)
		if d.Summary == changesHands { // once in a plan, for all streams
			named = historyStreams
		}
		if slices.Contains(onceInPlan, d.Summary) {
			c.printed = append(c.printed, d.Summary)
		}
		for _, id := range named {
			c.announced[id] = c.announced[id] || c.walks == 1
			if !slices.Contains(onceInPlan, d.Summary) {
				c.printed = append(c.printed, fmt.Sprintf("%s: %s, %s", d.Severity, ownText.ReplaceAllString(d.Summary, ""), id))
			}
			failed := d.Severity == tfprotov6.DiagnosticSeverityError // and may not come to its warning
			if failed || beginsWith(d.Summary, saysEmptied) {
				c.warned.add(id)
			}
			late := c.unrefreshed || c.lateGroups[id] // Terraform passes the apply nothing that tells who has the stream
			untrue := strings.HasPrefix(d.Summary, wereDetached) || late && strings.HasPrefix(d.Summary, changesHands)
			if untrue && !c.destroysOld && !c.keptStreams[id] {
				c.limit(id)
			}
		}
	}
	if diags.Failed() {
		c.failures = append(c.failures, what+": "+diags.String())
	}
	return !diags.Failed()
}

// ownText is what a summary has beside that of others like it.
var ownText = regexp.MustCompile(`(: stream ".*"|: more streams)?( and \d+ more)?$`)

func namedIn(d *tfprotov6.Diagnostic, otherwise []string) []string {
	named := slices.DeleteFunc(slices.Clone(historyStreams), func(id string) bool {
		return !strings.Contains(d.Summary+d.Detail, strconv.Quote(id))
	})
	if len(named) == 0 {
		return otherwise
	}
	return named
}

const (
	changesHands = "Stream Changes Hands"
	wereDetached = "Processors Were Detached"
)

// onceInPlan are the warnings of which a plan has one. Which stream it names depends on the order of the calls.
var onceInPlan = []string{changesHands, "Two Resources Have the Stream", "Stream May Be Without Processors"}

// saysEmptied are the warnings that a stream may have, or has had, no processors for a moment.
var saysEmptied = []string{wereDetached, changesHands}

func beginsWith(summary string, all []string) bool {
	return slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(summary, s) })
}
