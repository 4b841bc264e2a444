package streams_test

import (
	"net/http"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

func TestAuthentication(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		authorize func(*http.Request) error
		cfg       streams.Config
	}{
		"token":  {streamstest.Bearer("t0ken"), streams.Config{Token: "t0ken"}},
		"basic":  {streamstest.Basic("me", "pä:ss"), streams.Config{BasicAuth: &streams.BasicAuth{Username: "me", Password: "pä:ss"}}},
		"header": {streamstest.APIKey("X-Api-Key", "k3y"), streams.Config{Headers: map[string]string{"X-Api-Key": "k3y"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := streamstest.New(streamstest.Options{Authorize: test.authorize}, streamstest.Stream{ID: "s1"})
			if _, err := startService(t, service.ServeHTTP).update(t, test.cfg); err != nil {
				t.Errorf("with credentials: %v", err)
			}
			s := startService(t, service.ServeHTTP)
			if e := s.updateError(t, streams.Config{}); e.Kind != streams.KindAuthentication || e.Outcome != streams.NotChanged || e.Attempts != 1 {
				t.Errorf("without credentials: %#v", e)
			}
			s.wantRequests(t, 1) // a credential that cannot be renewed is not tried twice
		})
	}
}
