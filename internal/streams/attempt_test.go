package streams_test

import (
	"context"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Observe gets each attempt once, with its result and the wait before the next one.
func TestObserve(t *testing.T) {
	t.Parallel()
	s := startService(t, respondError(503, "later"), resetConnection, applyUpdate)
	type observed struct {
		number, status int
		failed, retry  bool
		request, body  string
	}
	var got []observed
	key := struct{ name string }{"key"}
	ctx := context.WithValue(t.Context(), key, "value")
	c := newClient(t, streams.Config{BaseURL: s.URL, Observe: func(ctx context.Context, a streams.Attempt) {
		if ctx.Value(key) != "value" || ctx.Err() != nil {
			t.Error("Observe did not get the context of the operation")
		}
		if a.Method != "PATCH" || a.URL != s.URL+"/v2/streams/s1" || a.Duration <= 0 || a.Retry != (a.RetryWait > 0) {
			t.Errorf("attempt %+v", a)
		}
		got = append(got, observed{a.Number, a.Status, a.Err != "", a.Retry, a.RequestBody.String(), a.ResponseBody.String()})
	}})
	if _, err := c.UpdateStream(ctx, "s1", streams.NewProcessorSet("p1")); err != nil {
		t.Fatal(err)
	}
	const sent = `{"processor_ids":["p1"]}`
	for i, want := range []observed{
		{1, 503, false, true, sent, `{"message":"later"}`},
		{2, 0, true, true, sent, ""},
		{3, 200, false, false, sent, streamJSON("s1", []string{"p1"})},
	} {
		if i >= len(got) || got[i] != want {
			t.Errorf("attempt %d of %+v is not %+v", i+1, got, want)
		}
	}
}
