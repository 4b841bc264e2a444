package scripted

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// The credentials of a client of the token endpoint.
const (
	ClientID     = "my client"
	ClientSecret = "s3cret/+=&?%41"
)

// NewClient returns a client over the in-memory network. It retries at once, unless the configuration says otherwise.
func NewClient(t *testing.T, cfg requests.Config) *streams.Client {
	t.Helper()
	if cfg.Retry == (requests.Retry{}) {
		cfg.Retry = requests.Retry{MaxAttempts: 5, MinBackoff: time.Nanosecond, MaxBackoff: time.Nanosecond}
	}
	if cfg.DialContext == nil {
		cfg.DialContext = streamstest.Dial
	}
	c, err := streams.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Update attaches processor p1 to stream s1, within an hour.
func (s *Service) Update(t *testing.T, cfg requests.Config) (*streams.Stream, error) {
	t.Helper()
	return s.UpdateWithin(t, cfg, time.Hour)
}

// UpdateWithin is like Update, with another time limit.
func (s *Service) UpdateWithin(t *testing.T, cfg requests.Config, limit time.Duration) (*streams.Stream, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cfg.BaseURL = s.URL
	return NewClient(t, cfg).UpdateStream(ctx, "s1", streams.NewProcessorSet("p1"))
}

// UpdateError expects that the update fails, and returns its error.
func (s *Service) UpdateError(t *testing.T, cfg requests.Config) *streams.Error {
	t.Helper()
	stream, err := s.Update(t, cfg)
	if stream != nil {
		t.Errorf("a failed update returned the stream %+v", stream)
	}
	return AsError(t, err)
}

// WantError checks the error of an update. Its result has the attempts, what was received, and the reason.
func (s *Service) WantError(t *testing.T, err error, kind streams.Kind, outcome streams.Outcome, want requests.Result) {
	t.Helper()
	e := AsError(t, err)
	WantFailed(t, e, kind, outcome, want.Attempts)
	want.Method, want.URL = "PATCH", s.URL+"/v2/streams/s1"
	WantEqual(t, "result", want, e.Result, cmpopts.IgnoreFields(want, "Err", "Failure", "MayHaveActed"))
}

// IgnoreShown compares streams without what is shown of them.
var IgnoreShown = cmpopts.IgnoreUnexported(streams.Stream{})

// UpdateAll updates as many streams as single resources do with the default time limit, and returns the errors.
func UpdateAll(t *testing.T, c *streams.Client, count int) []error {
	t.Helper()
	return UpdateParallel(t, c, count, Singles, 5*time.Minute)
}

// How many operations run at a time.
const (
	Singles = 10 // those of single resources, as Terraform does
	Group   = 64 // those of a group
)

// UpdateParallel updates streams, with the given number of operations at a time. Each operation has a time limit.
func UpdateParallel(t *testing.T, c *streams.Client, count, parallel int, limit time.Duration) []error {
	t.Helper()
	return updateAll(t.Context(), c, count, parallel, limit)
}

func updateAll(ctx context.Context, c *streams.Client, count, parallel int, limit time.Duration) []error {
	errs := make([]error, count)
	var workers errgroup.Group
	workers.SetLimit(parallel)
	for n, id := range StreamIDs(count) {
		workers.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			_, errs[n] = c.UpdateStream(ctx, id, streams.NewProcessorSet("p1"))
			return nil
		})
	}
	_ = workers.Wait() // the errors are in errs
	return errs
}

// UpdateGroup updates streams as a group does, with one time limit for all of them.
func UpdateGroup(t *testing.T, c *streams.Client, count int, limit time.Duration) []error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return updateAll(ctx, c, count, c.MaxUnderWay(), limit)
}

// MustUpdateAll is like UpdateAll. No update may fail.
func MustUpdateAll(t *testing.T, c *streams.Client, count int) {
	t.Helper()
	if err := errors.Join(UpdateAll(t, c, count)...); err != nil {
		t.Errorf("after all updates: %v", err)
	}
}

// AsError returns the error of the client in an error.
func AsError(t *testing.T, err error) *streams.Error {
	t.Helper()
	e, ok := errors.AsType[*streams.Error](err)
	if !ok {
		t.Fatalf("error %v (%T) is not a *streams.Error", err, err)
	}
	return e
}

// WantFailed checks what an error says about the update.
func WantFailed(t *testing.T, e *streams.Error, kind streams.Kind, outcome streams.Outcome, attempts int) {
	t.Helper()
	if e.Kind != kind || e.Outcome != outcome || e.Attempts != attempts {
		t.Errorf("error %#v", e)
	}
}

// WantEqual shows how two values differ.
func WantEqual(t *testing.T, what string, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// ErrorText returns the text of an error, "" for none.
func ErrorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// StreamIDs returns s0, s1 and so on.
func StreamIDs(count int) []string {
	ids := make([]string, count)
	for n := range ids {
		ids[n] = fmt.Sprintf("s%d", n)
	}
	return ids
}

// OAuth2Config is for a service and a token endpoint that need not check credentials.
func OAuth2Config(service, endpoint *Service) requests.Config {
	client := &requests.OAuth2{TokenURL: endpoint.URL, ClientID: ClientID, ClientSecret: ClientSecret}
	return requests.Config{BaseURL: service.URL, OAuth2: client}
}

// Virtual runs a test with a clock of its own, which goes on when all goroutines wait.
func Virtual(t *testing.T, test func(*testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		test(t)
		synctest.Wait() // connections that are being closed would keep the clock from the service's own end
	})
}

// RunVirtual is like Virtual, for a subtest.
func RunVirtual(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { Virtual(t, test) })
}
