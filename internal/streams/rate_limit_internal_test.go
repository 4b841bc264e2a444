package streams

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The limit applies to each attempt, retries included. An operation fails at once if its time limit ends
// before its next attempt is allowed.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	noBackoff := Retry{MaxAttempts: 5, MinBackoff: time.Nanosecond, MaxBackoff: time.Nanosecond}
	synctest.Test(t, func(t *testing.T) {
		s, e := runUpdate(t, Config{RequestsPerSecond: 2, Retry: noBackoff}, 0, respond503)
		if e == nil || e.Attempts != 5 {
			t.Fatalf("error %#v", e)
		}
		for _, wait := range s.waits() {
			if wait < 499*time.Millisecond || wait > 501*time.Millisecond {
				t.Errorf("waits %s, want half a second each", s.waits())
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s, e := runUpdate(t, Config{RequestsPerSecond: 0.01, Retry: noBackoff}, 10*time.Second, respond503)
		if e == nil || e.Kind != KindTimeout || e.Attempts != 1 || len(s.times) != 1 || e.Message != "later" || e.Outcome != Unknown || !errors.Is(e, ErrRateLimit) ||
			e.Reason != "the operation's time limit ends before the limit of requests per second allows another request" || time.Since(start) > time.Millisecond {
			t.Errorf("after %s: %#v", time.Since(start), e)
		}
	})
	// The request timeout does not cover the wait for the rate limit.
	synctest.Test(t, func(t *testing.T) {
		s, e := runUpdate(t, Config{RequestsPerSecond: 0.1, RequestTimeout: time.Second, Retry: noBackoff}, 0, respond503, respond503, respondSuccess)
		if e != nil || len(s.times) != 3 {
			t.Errorf("error %#v after %d attempts", e, len(s.times))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := clientOver(t, Config{RequestsPerSecond: 0.001, Retry: noBackoff}, scripted(respondSuccess))
		if _, err := c.UpdateStream(t.Context(), "s1", NewProcessorSet("p1")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := c.UpdateStream(ctx, "s1", NewProcessorSet("p1"))
			done <- err
		}()
		synctest.Wait()
		cancel()
		e := (*Error)(nil)
		if err := <-done; !errors.As(err, &e) || !errors.Is(err, context.Canceled) || e.Attempts != 0 || e.Outcome != NotChanged {
			t.Errorf("error %#v", err)
		}
	})
}

// An operation that ends while it waits for a slot has sent nothing.
func TestInterruptedWaitForSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := scripted(respondSuccess)
		c := clientOver(t, Config{MaxConcurrent: 1}, s)
		c.slots <- struct{}{} // another attempt, which does not end
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := c.UpdateStream(ctx, "s1", NewProcessorSet("p1"))
		e := (*Error)(nil)
		if !errors.As(err, &e) || e.Kind != KindTimeout || e.Attempts != 0 || e.Outcome != NotChanged || len(s.times) != 0 {
			t.Errorf("error %#v after %d attempts", err, len(s.times))
		}
	})
}
