package streams_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// The time of an operation begins when the first responses show that the credential is right: a healthy service fails
// nothing, and a run loses one response at most.
func TestFirstResponses(t *testing.T) {
	t.Parallel()
	const latency, limit = 2 * time.Second, 3 * time.Second
	for _, test := range []struct{ streams, parallel int }{{30, singles}, {60, group}, {100, group}} {
		runVirtual(t, fmt.Sprint(test), func(t *testing.T) {
			s := startService(t, respondAfter(latency, applyUpdate))
			start, waves := time.Now(), (test.streams+test.parallel-1)/test.parallel
			err := errors.Join(updateParallel(t, newClient(t, streams.Config{BaseURL: s.URL, Token: "t0ken"}), test.streams, test.parallel, limit)...)
			if took := time.Since(start); err != nil || took > latency*time.Duration(waves+1) {
				t.Errorf("%d streams took %s: %.500v", test.streams, took, err)
			}
			s.wantRequests(t, test.streams)
		})
	}
}

// A wait ends with the time limit of its operation, and with an interrupt, also after a part of it did not count. The
// error says what the operation has waited for.
func TestWaitsEnd(t *testing.T) {
	const late = "the operation did not finish within its time limit: "
	virtual(t, func(t *testing.T) {
		s := startService(t, neverRespond)
		c := newClient(t, streams.Config{BaseURL: s.URL})
		go updateParallel(t, c, 3, 3, 20*time.Second)
		synctest.Wait()
		start := time.Now()
		err := updateParallel(t, c, 1, 1, time.Second)[0]
		e := asError(t, err)
		if wantFailed(t, e, streams.KindTimeout, streams.NotChanged, 0); time.Since(start) != time.Second || e.Reason != late+streams.ErrTurnWait.Error() {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		s.wantRequests(t, 3)

		<-time.After(time.Minute)
		s = startService(t, respondAfter(2*time.Second, applyUpdate), respondAfter(2*time.Second, applyUpdate), neverRespond)
		c = newClient(t, streams.Config{BaseURL: s.URL, MaxConcurrent: 1})
		go updateParallel(t, c, 2, 2, time.Minute)
		synctest.Wait()
		err = updateParallel(t, c, 1, 1, 3*time.Second)[0] // waits for the responses to both
		if streamstest.WantText(t, err.Error(), late+streams.ErrSlotWait.Error()); !errors.Is(err, streams.ErrSlotWait) {
			t.Error(err)
		}
	})
	runVirtual(t, "interrupt", func(t *testing.T) {
		s := startService(t, respondAfter(2*time.Second, applyUpdate), respondAfter(2*time.Second, applyUpdate),
			respondAfter(2*time.Second, applyUpdate), respondError(503, "later", "Retry-After", "1"))
		c := newClient(t, streams.Config{BaseURL: s.URL})
		go updateParallel(t, c, 3, 3, time.Minute)
		synctest.Wait()
		start := time.Now()
		interrupted, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(3500*time.Millisecond, interrupt)
		ctx, cancel := streams.WithTimeLimit(interrupted, 3*time.Second)
		defer cancel()
		_, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet())
		if took := time.Since(start); asError(t, err).Kind != streams.KindInterrupted || took != 3500*time.Millisecond {
			t.Errorf("after %s: %v", took, err)
		}
		s.wantRequests(t, 3+2)
	})
}

// An operation that does not send its request ends its turn: the next one gets it.
func TestTurnsEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg   streams.Config
		cause error
	}{
		"rate limit": {streams.Config{RequestsPerSecond: 0.01}, streams.ErrRateLimit},
		"not sent":   {streams.Config{UserAgent: "a\nb"}, streams.ErrNotSent},
	} {
		runVirtual(t, name, func(t *testing.T) {
			test.cfg.BaseURL, test.cfg.RequestTimeout = startService(t, neverRespond).URL, time.Hour
			c := newClient(t, test.cfg)
			go updateAll(t, c, 1)
			synctest.Wait()
			start := time.Now()
			for range 5 {
				if err := updateParallel(t, c, 1, 1, time.Minute)[0]; !errors.Is(err, test.cause) {
					t.Error(err)
				}
			}
			if took := time.Since(start); took != 0 {
				t.Errorf("took %s", took)
			}
		})
	}
}

// A credential that the service does not know at once fails nothing if it becomes valid within two seconds, and if the
// service rejects no more than four requests with it. A rejection is final if no other operation shows that it was too early.
func TestNewCredential(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	writeSecret(t, path, "t0ken")
	type refusal func(request int, at time.Duration) bool
	first := func(count int) refusal { return func(request int, _ time.Duration) bool { return request <= count } }
	until := func(end time.Duration) refusal { return func(_ int, at time.Duration) bool { return at < end } }
	for name, cfg := range map[string]streams.Config{
		"token":  {Token: "t0ken"},
		"file":   {TokenFile: path},
		"oauth2": {OAuth2: &streams.OAuth2{}},
	} {
		last := map[string]int{"oauth2": 7}[name] // rejections of the first token and of the second one
		for what, refuse := range map[string]refusal{
			"0.2 s": until(200 * time.Millisecond), "1 s": until(time.Second), "2 s": until(2 * time.Second),
			"the first": first(1), "three": first(3), "as many as allowed": first(max(4, last)),
		} {
			for _, parallel := range []int{singles, group} {
				runVirtual(t, fmt.Sprint(name, "/", what, "/", parallel), func(t *testing.T) {
					cfg, start, requests := cfg, time.Now(), 0
					var mu sync.Mutex
					s := startService(t, func(w http.ResponseWriter, r *http.Request) {
						mu.Lock()
						requests++
						response := http.HandlerFunc(applyUpdate)
						if refuse(requests, time.Since(start)) {
							response = respondError(401, "not yet")
						}
						mu.Unlock()
						respondAfter(20*time.Millisecond, response)(w, r)
					})
					cfg.BaseURL = s.URL
					if name == "oauth2" {
						cfg.OAuth2 = oauth2Config(s, startService(t, issueTokens(3600))).OAuth2
					}
					err := errors.Join(updateParallel(t, newClient(t, cfg), 100, parallel, 5*time.Minute)...)
					if took := time.Since(start); err != nil || took > 5*time.Second {
						t.Errorf("after %s: %.500v", took, err)
					}
				})
			}
		}
	}
	runVirtual(t, "alone", func(t *testing.T) {
		s := startService(t, respondError(401, "not you"))
		c := newClient(t, streams.Config{BaseURL: s.URL, Token: "t0ken"})
		start := time.Now()
		for n := range 3 {
			wantFailed(t, asError(t, updateAll(t, c, 1)[0]), streams.KindAuthentication, streams.NotChanged, 1)
			s.wantRequests(t, n+1)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("took %s", took)
		}
	})
	runVirtual(t, "one attempt", func(t *testing.T) {
		reject := respondError(401, "not you")
		s := startService(t, reject, reject, reject, applyUpdate)
		c := newClient(t, streams.Config{BaseURL: s.URL, Token: "t0ken", Retry: streams.Retry{MaxAttempts: 1}})
		errs := updateAll(t, c, 10)
		s.wantRequests(t, 10)
		if failed := slices.DeleteFunc(errs, func(err error) bool { return err == nil }); len(failed) != 3 {
			t.Error(failed)
		}
	})
}
