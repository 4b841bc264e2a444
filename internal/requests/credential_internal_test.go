package requests

import (
	"context"
	"errors"
	"testing"
)

// What [credential.get] does with the last header, for an operation that needs one, and for one whose header was rejected.
func TestHeader(t *testing.T) {
	t.Parallel()
	failed := &failedSearch{}
	// What became of the last header, in this order.
	type past struct {
		replaces, works, exhausted bool
		rejections                 int
	}
	wrong := past{rejections: maxRejections}
	for name, test := range map[string]struct {
		fixed, issued bool
		last          header // its header and error
		expired       bool
		past          past
		rejected      string
		ended         bool // the operation
		source        header
		searches      bool   // the source is called
		avoid         string // and with this
		want          string // the header
		wantErr       error
		sameTrial     bool
		isLast        bool // another one would not help
	}{
		"fixed":                  {fixed: true, last: header{value: "a"}, want: "a", sameTrial: true},
		"fixed, rejected":        {fixed: true, last: header{value: "a"}, rejected: "a", want: "a", sameTrial: true},
		"fixed, wrong":           {fixed: true, last: header{value: "a"}, past: wrong, wantErr: failed},
		"the last one":           {last: header{value: "a"}, want: "a", sameTrial: true},
		"expired":                {last: header{value: "a"}, expired: true, source: header{value: "b"}, searches: true, want: "b"},
		"prolonged":              {last: header{value: "a"}, expired: true, source: header{value: "a"}, searches: true, want: "a", sameTrial: true},
		"replaced":               {last: header{value: "a"}, rejected: "a", source: header{value: "b"}, searches: true, avoid: "a", want: "b", isLast: true},
		"replaced by another":    {last: header{value: "b"}, rejected: "a", want: "b", sameTrial: true},
		"the same again":         {last: header{value: "a"}, rejected: "a", source: header{value: "a"}, searches: true, avoid: "a", want: "a", sameTrial: true, isLast: true},
		"exhausted":              {last: header{value: "a"}, past: past{works: true, exhausted: true}, rejected: "a", want: "a", sameTrial: true, isLast: true},
		"second try":             {last: header{value: "a"}, past: past{replaces: true}, rejected: "a", want: "a", sameTrial: true, isLast: true},
		"second try, works":      {last: header{value: "a"}, past: past{replaces: true, works: true}, rejected: "a", source: header{value: "b"}, searches: true, avoid: "a", want: "b", isLast: true},
		"wrong":                  {last: header{value: "a"}, past: wrong, source: header{value: "b"}, wantErr: failed},
		"wrong, changed":         {last: header{value: "a"}, past: wrong, expired: true, source: header{value: "b"}, searches: true, want: "b"},
		"second try, changed":    {last: header{value: "a"}, past: past{replaces: true}, expired: true, source: header{value: "b"}, searches: true, want: "b"},
		"token, wrong, expired":  {issued: true, last: header{value: "a"}, past: wrong, expired: true, wantErr: failed},
		"token, expired":         {issued: true, last: header{value: "a"}, past: past{works: true}, expired: true, source: header{value: "b"}, searches: true, want: "b"},
		"second token, expired":  {issued: true, last: header{value: "a"}, past: past{replaces: true}, expired: true, source: header{value: "b"}, searches: true, want: "b", sameTrial: true, isLast: true},
		"second token, accepted": {issued: true, last: header{value: "a"}, past: past{replaces: true, works: true}, expired: true, source: header{value: "b"}, searches: true, want: "b"},
		"an error holds":         {last: header{err: failed}, wantErr: failed},
		"an error is over":       {last: header{err: failed}, expired: true, source: header{value: "a"}, searches: true, want: "a"},
		"no header":              {last: header{value: "a"}, expired: true, source: header{err: failed}, searches: true, wantErr: failed},
		"ended":                  {last: header{value: "a"}, rejected: "a", ended: true, source: header{value: "b"}, wantErr: context.Canceled},
		"ended, expired":         {last: header{value: "a"}, expired: true, ended: true, source: header{value: "b"}, wantErr: context.Canceled},
		"too many requests":      {last: header{value: "a"}, expired: true, source: header{err: ErrRateLimit}, searches: true, wantErr: ErrRateLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &credential{issued: test.issued, search: make(chan struct{}, 1)}
			searched, avoided := false, ""
			if !test.fixed {
				c.source = func(_ context.Context, avoid string) *header {
					searched, avoided = true, avoid
					return &header{value: test.source.value, err: test.source.err, holds: func() bool { return true }}
				}
			}
			last := &header{value: test.last.value, err: test.last.err, trial: newTrial(), holds: func() bool { return !test.expired }}
			last.replaces = test.past.replaces
			if test.past.works {
				last.accept()
			}
			if test.past.exhausted {
				last.exhaust()
			}
			for range test.past.rejections {
				last.reject(0, false, Result{})
			}
			c.last.Store(last)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			if test.ended {
				end()
			}
			got, err := c.get(ctx, test.rejected)
			if searched != test.searches || avoided != test.avoid {
				t.Errorf("searched %t, avoiding %q; want %t, %q", searched, avoided, test.searches, test.avoid)
			}
			if e := (*failedSearch)(nil); test.wantErr != nil {
				if !errors.Is(err, test.wantErr) && !errors.As(err, &e) {
					t.Errorf("error %v, want %v", err, test.wantErr)
				}
				if kept := c.last.Load() == last; kept != (!test.searches || errors.Is(test.wantErr, ErrRateLimit)) {
					t.Errorf("the last header was kept: %t", kept)
				}
				return
			}
			if err != nil || got.value != test.want || (got.trial == last.trial) != test.sameTrial || got.isLast() != test.isLast {
				t.Errorf("header %q, same trial %t, last %t, error %v", got.value, got.trial == last.trial, got.isLast(), err)
			}
			if test.avoid != "" && last.value != got.value && last.isUntested() {
				t.Error("operations still wait for their turn with the old header")
			}
		})
	}
}
