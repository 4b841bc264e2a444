package streams_test

import (
	"context"
	"errors"
	"fmt"
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
