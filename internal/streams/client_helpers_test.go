package streams_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// quick retries at once, as often as the default.
var retryAtOnce = streams.Retry{MaxAttempts: 5, MinBackoff: time.Nanosecond, MaxBackoff: time.Nanosecond}

// connect returns a client that retries at once unless told otherwise.
func newClient(t *testing.T, cfg streams.Config) *streams.Client {
	t.Helper()
	if cfg.Retry == (streams.Retry{}) {
		cfg.Retry = retryAtOnce
	}
	c, err := streams.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// update sends one set to stream s1 of the service.
func (s *scriptedService) update(t *testing.T, cfg streams.Config) (*streams.Stream, error) {
	t.Helper()
	cfg.BaseURL = s.URL
	return newClient(t, cfg).UpdateStream(t.Context(), "s1", streams.NewProcessorSet("p1"))
}

// fail expects that the update fails, and returns how.
func (s *scriptedService) updateError(t *testing.T, cfg streams.Config) *streams.Error {
	t.Helper()
	stream, err := s.update(t, cfg)
	if stream != nil {
		t.Errorf("a failed update returned the stream %+v", stream)
	}
	return asError(t, err)
}

func asError(t *testing.T, err error) *streams.Error {
	t.Helper()
	e := (*streams.Error)(nil)
	if !errors.As(err, &e) {
		t.Fatalf("error %v (%T) is no *streams.Error", err, err)
	}
	return e
}

// wantText checks that text holds each part.
func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
}

// said turns an error into its text, nil into "".
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// ended waits for an operation that a cancellation must end. The bound is for a busy machine; by
// itself, what these tests cancel would last for minutes.
func waitForEnd(t *testing.T, done <-chan error) error {
	t.Helper()
	bound, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	select {
	case err := <-done:
		return err
	case <-bound.Done():
		t.Fatal("still running long after its end")
		return nil
	}
}
