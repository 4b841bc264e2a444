package streams_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// retryAtOnce makes as many attempts as the default, without a wait.
var retryAtOnce = streams.Retry{MaxAttempts: 5, MinBackoff: time.Nanosecond, MaxBackoff: time.Nanosecond}

// newClient returns a client that retries at once, unless the configuration says otherwise.
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

// update attaches processor p1 to stream s1.
func (s *scriptedService) update(t *testing.T, cfg streams.Config) (*streams.Stream, error) {
	t.Helper()
	cfg.BaseURL = s.URL
	return newClient(t, cfg).UpdateStream(t.Context(), "s1", streams.NewProcessorSet("p1"))
}

// updateError expects that the update fails, and returns its error.
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
		t.Fatalf("error %v (%T) is not a *streams.Error", err, err)
	}
	return e
}

// wantText checks that text contains each part.
func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not contain %q", text, part)
		}
	}
}

// errorText returns the text of an error, "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// waitForEnd waits for an operation that a cancellation must end. Without the cancellation, the
// operation would take much longer than this limit.
func waitForEnd(t *testing.T, done <-chan error) error {
	t.Helper()
	limit, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	select {
	case err := <-done:
		return err
	case <-limit.Done():
		t.Fatal("the operation still runs after its cancellation")
		return nil
	}
}
