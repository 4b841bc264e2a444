package requests

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// When an operation waits for a search, with a credential that it needs, or with one that was rejected.
func TestIsDue(t *testing.T) {
	t.Parallel()
	find := func(context.Context) (*credential, *noCredential) { return nil, nil }
	current := func(c credential) *credential { c.value, c.gate = "a", newGate(NotAccepted); return &c }
	issued := func(failed *noCredential, c credential) *credentials {
		return &credentials{find: find, issued: true, failed: failed, current: current(c)}
	}
	past, soon := time.Now().Add(-time.Second), time.Now().Add(time.Minute)
	a, b := &credential{value: "a"}, &credential{value: "b"}
	lasting, over, failing := &noCredential{}, &noCredential{until: past}, &noCredential{until: soon}
	late, early := timeLimit{deadline: soon}, timeLimit{deadline: soon.Add(-time.Second)}
	for name, test := range map[string]struct {
		c        *credentials
		isWrong  bool
		limit    timeLimit
		rejected *credential
		want     bool
	}{
		"fixed":                        {c: &credentials{current: current(credential{})}, rejected: a},
		"current":                      {c: issued(nil, credential{end: soon})},
		"without an end":               {c: issued(nil, credential{})},
		"over":                         {c: issued(nil, credential{end: past}), want: true},
		"over, a client that is wrong": {c: issued(nil, credential{end: past}), isWrong: true},
		"rejected":                     {c: issued(nil, credential{}), rejected: a, want: true},
		"rejected, replaced":           {c: issued(nil, credential{}), rejected: b},
		"rejected, the last one":       {c: issued(nil, credential{isLast: true}), rejected: a},
		"in a file, wrong":             {c: &credentials{find: find, current: current(credential{})}, isWrong: true, want: true},
		"in a file":                    {c: &credentials{find: find, current: current(credential{})}, want: true},
		"a failure for the run":        {c: issued(lasting, credential{end: past}), rejected: a},
		"a failure":                    {c: issued(failing, credential{end: past}), rejected: a},
		"a failure that is over":       {c: issued(over, credential{}), rejected: a, want: true},
		"a failure in a hurry":         {c: issued(&noCredential{until: soon, hurried: true}, credential{end: past}), limit: early},
		"a failure in a hurry, more time": {c: issued(&noCredential{until: soon, hurried: true}, credential{end: past}),
			limit: late, want: true},
	} {
		if test.isWrong {
			test.c.current.gate.close()
		}
		if got := test.c.isDue(test.limit, test.rejected); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What a search makes of the current credential.
func TestNote(t *testing.T) {
	t.Parallel()
	success := response(200)
	for name, test := range map[string]struct {
		issued, accepted, isLast, rejected bool
		found                              string // "" for a failed search
		want                               string
		sameGate, wantLast                 bool
	}{
		"failed":             {want: "a", sameGate: true},
		"failed, the last":   {isLast: true, rejected: true, want: "a", sameGate: true, wantLast: true},
		"the same":           {found: "a", want: "a", sameGate: true},
		"the same, rejected": {found: "a", rejected: true, want: "a", sameGate: true, wantLast: true},
		"the same, the last": {found: "a", isLast: true, want: "a", sameGate: true, wantLast: true},
		"another":            {found: "b", isLast: true, want: "b"},
		"another, rejected":  {found: "b", rejected: true, want: "b", wantLast: true},
		"a token, untested":  {issued: true, found: "b", want: "b", sameGate: true},
		"a token, rejected":  {issued: true, found: "b", rejected: true, want: "b", sameGate: true, wantLast: true},
		"a token, accepted":  {issued: true, accepted: true, found: "b", want: "b"},
		"another, accepted":  {accepted: true, found: "b", want: "b"},
		"the same, accepted": {issued: true, accepted: true, found: "a", want: "a", sameGate: true},
	} {
		before := newGate(NotAccepted)
		if test.accepted {
			before.learn(success, "PATCH")
		}
		c := credentials{issued: test.issued, current: &credential{value: "a", gate: before, isLast: test.isLast}, failed: new(noCredential)}
		failed := new(noCredential)
		if test.found != "" {
			failed = nil
		}
		c.note(&credential{value: test.found}, failed, test.rejected)
		if c.failed != failed || c.current.value != test.want || (c.current.gate == before) != test.sameGate ||
			c.current.isLast != test.wantLast {
			t.Errorf("%s: %+v", name, c.current)
		}
		_, accepted := c.current.gate.now()
		if keeps := test.accepted && (test.issued || test.sameGate); (accepted == AcceptedUpdates) != keeps {
			t.Errorf("%s: acceptance %d", name, accepted)
		}
		if verdict, _ := before.now(); !test.sameGate && !test.issued && verdict != wrong {
			t.Errorf("%s: deliveries wait at the gate of the former credential", name)
		}
	}
}

// A token that has helped after a rejection may be replaced after the next one.
func TestHelped(t *testing.T) {
	t.Parallel()
	c := credentials{current: &credential{value: "a", isLast: true}}
	if c.helped(&credential{value: "b"}); !c.current.isLast {
		t.Error("another credential counts")
	}
	if c.helped(&credential{value: "a"}); c.current.isLast {
		t.Error("the credential has helped")
	}
}

// A bug in a search is one of all operations that wait for it, and of no other one.
func TestBugInASearch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hasBug atomic.Bool
		hasBug.Store(true)
		c := credentials{finding: make(chan struct{}, 1), current: &credential{gate: newGate(NotAccepted), end: time.Now()}}
		c.find = func(context.Context) (*credential, *noCredential) {
			if <-time.After(time.Second); hasBug.Load() {
				panic("a bug")
			}
			return &credential{value: "a"}, nil
		}
		for range 3 {
			go func() {
				defer func() {
					if recover() == nil {
						t.Error("no bug")
					}
				}()
				_, _ = c.get(t.Context(), nil)
			}()
		}
		<-time.After(time.Minute)
		hasBug.Store(false)
		if got, err := c.get(t.Context(), nil); err != nil || got.value != "a" {
			t.Error(got, err)
		}
	})
}

// An operation that has ended looks for no credential, and has waited for none.
func TestNoSearchAfterTheEnd(t *testing.T) {
	t.Parallel()
	c := credentials{finding: make(chan struct{}, 1), current: &credential{gate: newGate(NotAccepted), end: time.Now()}}
	c.find = func(context.Context) (*credential, *noCredential) {
		t.Error("a search began")
		return new(credential), nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.get(ctx, nil); !errors.Is(err, context.Canceled) || errors.Is(err, ErrTokenWait) {
		t.Error(err)
	}
}

// A search has the deadline of the operation that can wait longest, and ends with the last one that waits.
func TestSearchOfSeveralOperations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s := newSearch(first, false)
		if deadline, _ := s.Deadline(); time.Until(deadline) != time.Minute {
			t.Errorf("from its beginning: %s", deadline)
		}
		for _, limit := range []time.Duration{5 * time.Minute, time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			s.join(ctx)
		}
		if deadline, _ := s.Deadline(); time.Until(deadline) != 5*time.Minute {
			t.Error(deadline)
		}
		for _, ends := range []bool{false, false, true} {
			if s.leave() != ends || (s.Err() != nil) != ends {
				t.Errorf("ended: %v, want %t", s.Err(), ends)
			}
		}
	})
}

// A search begins when the one before has ended, also if nobody waits for that one any more.
func TestOneSearchAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := credentials{finding: make(chan struct{}, 1), current: &credential{gate: newGate(NotAccepted), end: time.Now()}}
		var searches atomic.Int32
		c.find = func(context.Context) (*credential, *noCredential) {
			if searches.Add(1) > 1 {
				t.Error("a second search is under way")
			}
			<-time.After(time.Second)
			searches.Add(-1)
			return &credential{value: "a"}, nil
		}
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			if _, err := c.get(ctx, nil); !errors.Is(err, ErrTokenWait) {
				t.Error(err)
			}
			cancel()
		}
		if got, err := c.get(t.Context(), nil); err != nil || got.value != "a" {
			t.Error(got, err)
		}
	})
}
