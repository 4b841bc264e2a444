package requests

import (
	"context"
	"errors"
	"testing"
)

// What [credentials.get] does with the last credential, for a delivery that needs one, and for one whose credential was rejected.
func TestCredentials(t *testing.T) {
	t.Parallel()
	failed := &failedSearch{}
	// What became of the last credential, in this order.
	type past struct {
		replaces, works, exhausted bool
		rejections                 int
	}
	wrong := past{rejections: maxRejections}
	for name, test := range map[string]struct {
		fixed, issued bool
		last          credential
		expired       bool
		past          past
		rejected      string
		ended         bool // the operation
		source        credential
		searches      bool   // the source is called
		avoid         string // and with this
		want          string // the value
		wantErr       error
		sameTrial     bool
		isLast        bool // another one would not help
	}{
		"fixed":                        {fixed: true, last: credential{value: "a"}, want: "a", sameTrial: true},
		"fixed, rejected":              {fixed: true, last: credential{value: "a"}, rejected: "a", want: "a", sameTrial: true},
		"fixed, wrong":                 {fixed: true, last: credential{value: "a"}, past: wrong, wantErr: failed},
		"the last one":                 {last: credential{value: "a"}, want: "a", sameTrial: true},
		"expired":                      {last: credential{value: "a"}, expired: true, source: credential{value: "b"}, searches: true, want: "b"},
		"prolonged":                    {last: credential{value: "a"}, expired: true, source: credential{value: "a"}, searches: true, want: "a", sameTrial: true},
		"replaced":                     {last: credential{value: "a"}, rejected: "a", source: credential{value: "b"}, searches: true, avoid: "a", want: "b", isLast: true},
		"replaced by another":          {last: credential{value: "b"}, rejected: "a", want: "b", sameTrial: true},
		"the same again":               {last: credential{value: "a"}, rejected: "a", source: credential{value: "a"}, searches: true, avoid: "a", want: "a", sameTrial: true, isLast: true},
		"exhausted":                    {last: credential{value: "a"}, past: past{works: true, exhausted: true}, rejected: "a", want: "a", sameTrial: true, isLast: true},
		"second try":                   {last: credential{value: "a"}, past: past{replaces: true}, rejected: "a", want: "a", sameTrial: true, isLast: true},
		"second try, works":            {last: credential{value: "a"}, past: past{replaces: true, works: true}, rejected: "a", source: credential{value: "b"}, searches: true, avoid: "a", want: "b", isLast: true},
		"wrong":                        {last: credential{value: "a"}, past: wrong, source: credential{value: "b"}, wantErr: failed},
		"wrong, changed":               {last: credential{value: "a"}, past: wrong, expired: true, source: credential{value: "b"}, searches: true, want: "b"},
		"second try, changed":          {last: credential{value: "a"}, past: past{replaces: true}, expired: true, source: credential{value: "b"}, searches: true, want: "b"},
		"token, wrong, expired":        {issued: true, last: credential{value: "a"}, past: wrong, expired: true, wantErr: failed},
		"token, expired":               {issued: true, last: credential{value: "a"}, past: past{works: true}, expired: true, source: credential{value: "b"}, searches: true, want: "b"},
		"second token, expired":        {issued: true, last: credential{value: "a"}, past: past{replaces: true}, expired: true, source: credential{value: "b"}, searches: true, want: "b", sameTrial: true, isLast: true},
		"second token, accepted":       {issued: true, last: credential{value: "a"}, past: past{replaces: true, works: true}, expired: true, source: credential{value: "b"}, searches: true, want: "b"},
		"an error holds":               {last: credential{err: failed}, wantErr: failed},
		"an error is over":             {last: credential{err: failed}, expired: true, source: credential{value: "a"}, searches: true, want: "a"},
		"an error holds, rejected":     {last: credential{value: "a", err: failed}, rejected: "a", wantErr: failed},
		"the same after an error":      {last: credential{value: "a", err: failed}, expired: true, source: credential{value: "a"}, searches: true, want: "a", sameTrial: true},
		"token, wrong, after an error": {issued: true, last: credential{value: "a", err: failed}, past: wrong, expired: true, source: credential{value: "b"}, searches: true, want: "b", isLast: true},
		"wrong, after an error":        {last: credential{value: "a", err: failed}, past: wrong, expired: true, source: credential{value: "b"}, searches: true, want: "b"},
		"no header":                    {last: credential{value: "a"}, expired: true, source: credential{err: failed}, searches: true, wantErr: failed},
		"ended":                        {last: credential{value: "a"}, rejected: "a", ended: true, source: credential{value: "b"}, wantErr: context.Canceled},
		"ended, expired":               {last: credential{value: "a"}, expired: true, ended: true, source: credential{value: "b"}, wantErr: context.Canceled},
		"too many requests":            {last: credential{value: "a"}, expired: true, source: credential{err: ErrRateLimit}, searches: true, wantErr: ErrRateLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &credentials{issued: test.issued, searching: make(chan struct{}, 1)}
			searched, avoided := false, ""
			if !test.fixed {
				c.source = func(_ context.Context, avoid string) *credential {
					searched, avoided = true, avoid
					return &credential{value: test.source.value, err: test.source.err, holds: func() bool { return true }}
				}
			}
			last := &credential{value: test.last.value, err: test.last.err, trial: newTrial(), holds: func() bool { return !test.expired }}
			last.trial.replaces = test.past.replaces
			if test.past.works {
				last.trial.accept()
			}
			if test.past.exhausted {
				last.trial.exhaust()
			}
			for range test.past.rejections {
				last.trial.reject(0, false, Result{})
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
					t.Errorf("the last credential was kept: %t", kept)
				}
				return
			}
			if err != nil || got.value != test.want || (got.trial == last.trial) != test.sameTrial || got.trial.isLast() != test.isLast {
				t.Errorf("credential %q, same trial %t, last %t, error %v", got.value, got.trial == last.trial, got.trial.isLast(), err)
			}
			if test.avoid != "" && last.value != got.value && last.trial.now().verdict == untested {
				t.Error("deliveries still wait for their turn with the old credential")
			}
		})
	}
}
