package texts_test

import (
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
)

// operation is what somebody does. It returns the diagnostics of all calls, after [world.fails].
type operation func(*world) coretest.Diagnostics

const severityError = tfprotov6.DiagnosticSeverityError

func label(s tfprotov6.DiagnosticSeverity) string {
	if s == severityError {
		return "Error"
	}
	return "Warning"
}

// at returns the attribute that a CLI quotes.
func at(d *tfprotov6.Diagnostic) string {
	if d.Attribute == nil {
		return ""
	}
	return " [" + d.Attribute.String() + "]"
}

func create(w *world) coretest.Diagnostics {
	config := single("cam-01", nil, "p1", "p2")
	w.fails(w)
	_, diags := w.apply(coretest.Managed{Value: null(config)}, config)
	return diags
}

func update(w *world) coretest.Diagnostics { return updateWith(nil)(w) }

// updateWith updates a resource with other attributes.
func updateWith(others coretest.Attributes) operation {
	return func(w *world) coretest.Diagnostics {
		state := w.existing(single("cam-01", others, "p1"))
		w.fails(w)
		_, diags := w.apply(state, single("cam-01", others, "p1", "p2"))
		return diags
	}
}

// empty updates a stream with the empty set.
func empty(w *world) coretest.Diagnostics {
	state := w.existing(single("cam-01", nil, "p1"))
	w.fails(w)
	_, diags := w.apply(state, single("cam-01", nil))
	return diags
}

func destroy(w *world) coretest.Diagnostics {
	state := w.existing(single("cam-01", nil, "p1"))
	w.fails(w)
	_, diags := w.apply(state, null(state.Value))
	return diags
}

// replace destroys an object, and creates one with another stream.
func replace(w *world) coretest.Diagnostics {
	state, config := w.existing(single("cam-01", nil, "p1")), single("cam-02", nil, "p1")
	w.fails(w)
	planning := w.process()
	planned, _, diags := planning.Plan(state, config)
	_, _, again := planning.Plan(coretest.Managed{Value: null(config), Private: planned.Private}, config)
	diags = append(diags, again...)
	if diags.Failed() {
		return diags
	}
	p := w.process()
	_, applied := p.Apply(state.Value, coretest.Managed{Value: null(config), Private: planned.Private}, null(config))
	return append(diags, applied...)
}

// read refreshes a resource with detect_drift that no read has found yet, known one that a read has found.
func read(w *world) coretest.Diagnostics  { return reading(w, false) }
func known(w *world) coretest.Diagnostics { return reading(w, true) }

func reading(w *world, found bool) coretest.Diagnostics {
	state := w.existing(single("cam-01", nil, "p1"))
	w.configure(coretest.Attributes{"detect_drift": true})
	if found {
		state, _ = w.process().Read(state)
	}
	w.fails(w)
	_, diags := w.process().Read(state)
	return diags
}

// readMany refreshes single resources.
func readMany(n int) operation {
	return func(w *world) (diags coretest.Diagnostics) {
		var states []coretest.Managed
		for _, id := range cameras(n) {
			states = append(states, w.existing(single(id, nil, "p1")))
		}
		w.configure(coretest.Attributes{"detect_drift": true})
		w.fails(w)
		p := w.process()
		for _, state := range states {
			_, read := p.Read(state)
			diags = append(diags, read...)
		}
		return diags
	}
}

// readAndUpdate refreshes a group, and updates it in the same run.
func readAndUpdate(w *world) coretest.Diagnostics {
	before, after := group(cameras(3), nil, "p1"), group(cameras(3), nil, "p2")
	state := w.existing(before)
	w.configure(coretest.Attributes{"detect_drift": true})
	w.fails(w)
	p := w.process()
	state, diags := p.Read(state)
	_, applied := w.applyIn(p, state, coretest.Managed{}, after)
	return append(diags, applied...)
}

func readGroup(w *world) coretest.Diagnostics {
	state := w.existing(group(cameras(3), nil, "p1"))
	w.configure(coretest.Attributes{"detect_drift": true})
	w.fails(w)
	_, diags := w.process().Read(state)
	return diags
}

// createMany creates n single resources in one process.
func createMany(n int) operation {
	return func(w *world) (diags coretest.Diagnostics) {
		w.fails(w)
		p := w.process()
		for _, id := range cameras(n) {
			config := single(id, nil, "p1")
			none := coretest.Managed{Value: null(config)}
			_, applied := w.applyIn(p, none, none, config)
			diags = append(diags, applied...)
		}
		return diags
	}
}

// destroyMany destroys n single resources in one process.
func destroyMany(n int) operation {
	return func(w *world) (diags coretest.Diagnostics) {
		var states []coretest.Managed
		for _, id := range cameras(n) {
			states = append(states, w.existing(single(id, nil, "p1")))
		}
		w.fails(w)
		p := w.process()
		for _, state := range states {
			gone := null(state.Value)
			planned, _, warned := w.process().Plan(state, gone)
			_, applied := p.Apply(state.Value, planned, gone)
			diags = append(append(diags, warned...), applied...)
		}
		return diags
	}
}

// createGroup creates a group of n streams.
func createGroup(n int) operation {
	return func(w *world) coretest.Diagnostics {
		config := group(cameras(n), nil, "p1")
		w.fails(w)
		_, diags := w.apply(coretest.Managed{Value: null(config)}, config)
		return diags
	}
}

// updateGroup gives n streams of a group another set.
func updateGroup(n int) operation {
	return func(w *world) coretest.Diagnostics {
		return w.change(group(cameras(n), nil, "p1"), group(cameras(n), nil, "p2"))
	}
}

// dropFromGroup lets a group of three drop two streams.
func dropFromGroup(w *world) coretest.Diagnostics {
	return w.change(group(cameras(3), nil, "p1"), group(cameras(1), nil, "p1"))
}

func destroyGroup(n int) operation {
	return func(w *world) coretest.Diagnostics {
		config := group(cameras(n), nil, "p1")
		return w.change(config, null(config))
	}
}

func (w *world) change(before, after tftypes.Value) coretest.Diagnostics {
	state := w.existing(before)
	w.fails(w)
	_, diags := w.apply(state, after)
	return diags
}

func importSingle(w *world) coretest.Diagnostics {
	w.configure(coretest.Attributes{"detect_drift": true})
	w.fails(w)
	p := w.process()
	state, diags := p.ImportState(coretest.SingleName, "cam-01")
	if diags.Failed() {
		return diags
	}
	_, read := p.Read(state)
	return append(diags, read...)
}

func importGroup(w *world) coretest.Diagnostics {
	w.configure(coretest.Attributes{"detect_drift": true})
	w.fails(w)
	p := w.process()
	state, diags := p.ImportState(coretest.GroupName, `["cam-01", "cam-02"]`)
	if diags.Failed() {
		return diags
	}
	_, read := p.Read(state)
	return append(diags, read...)
}

func dataSource(w *world) coretest.Diagnostics {
	w.configure(coretest.Attributes{"detect_drift": true})
	w.fails(w)
	_, diags := w.process().ReadData(coretest.SingleName, coretest.Attributes{"stream_id": "cam-01"})
	return diags
}

func query(w *world) (diags coretest.Diagnostics) {
	w.configure(coretest.Attributes{"detect_drift": true})
	w.fails(w)
	for result := range w.process().List(coretest.Attributes{"stream_ids": []string{"cam-01", "cam-02"}}, false, 100) {
		diags = append(diags, result.Diagnostics...)
	}
	return diags
}

// refusing creates with on_create = "refuse".
func refusing(w *world) coretest.Diagnostics {
	w.configure(coretest.Attributes{"detect_drift": true})
	config := single("cam-01", coretest.Attributes{"on_create": "refuse"}, "p1")
	w.fails(w)
	_, diags := w.apply(coretest.Managed{Value: null(config)}, config)
	return diags
}

func invoke(w *world) coretest.Diagnostics {
	w.fails(w)
	_, diags := w.process().Invoke(coretest.Attributes{"stream_id": "cam-01", "processor_ids": []string{}})
	return diags
}

// interrupted is an operation that somebody interrupts while a request is under way.
func interrupted(config tftypes.Value) operation {
	return func(w *world) (diags coretest.Diagnostics) {
		none := coretest.Managed{Value: null(config)}
		w.fails(w)
		p := w.process()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, diags = w.applyIn(p, none, none, config)
		}()
		<-w.arrived
		p.Interrupt()
		<-ended
		return diags
	}
}
