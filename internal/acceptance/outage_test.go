package acceptance

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

const triedOnce = "another operation has used up its attempts and there was no response since"

// reserveAddress returns a loopback address on which nothing listens.
func reserveAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// A service that is down ends an apply of a large fleet soon: the first operations make all attempts, the others one.
func TestAccServiceIsDown(t *testing.T) {
	t.Parallel()
	const streamCount = 500
	w := newWorkspace(t, "http://"+reserveAddress(t), fleet(streamCount))
	start := time.Now()
	r := w.apply()
	if took := time.Since(start); took > time.Minute { // half of it on a machine with nothing else to do is plenty
		t.Errorf("the apply took %s", took)
	}
	wantResult(t, r, 1, "connection refused", notChanged)
	if got := strings.Count(r.text(), notChanged); got != streamCount {
		t.Errorf("%d errors, want %d", got, streamCount)
	}
	if got := strings.Count(r.text(), triedOnce); got < streamCount-20 || got >= streamCount {
		t.Errorf("%d errors say why there was one attempt", got)
	}
	w.wantEmptyState()
}

// A service that is down for seconds fails no operation.
func TestAccServiceComesBack(t *testing.T) {
	t.Parallel()
	const streamCount = 100
	address := reserveAddress(t)
	service := streamstest.New(streamstest.Options{}, streamstest.Streams(fleetIDs(streamCount)...)...)
	w := newWorkspace(t, "http://"+address, fleet(streamCount))
	started := make(chan struct{})
	w.onStdout = func(text string) {
		if strings.Contains(text, "Creating...") {
			select {
			case started <- struct{}{}:
			default:
			}
		}
	}
	server := &httptest.Server{Config: &http.Server{Handler: service}}
	serving := make(chan struct{})
	go func() {
		defer close(serving)
		<-started
		<-time.After(3 * time.Second) // how long the outage lasts
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		server.Listener = listener
		server.Start()
	}()
	w.mustApply()
	<-serving
	t.Cleanup(server.Close)
	for _, id := range fleetIDs(streamCount) {
		service.WantAttached(t, id, "p1")
	}
	w.wantNoChanges()
}

// An outage of the token endpoint, or credentials that it or the service refuses, cost two token requests and not two
// for each stream.
func TestAccRefusedClient(t *testing.T) {
	t.Parallel()
	const streamCount = 1000
	for name, test := range map[string]struct {
		secret    string
		authorize func(*http.Request) error
		want      string
	}{
		"wrong secret": {"wr0ng", nil, "invalid_client: the client is unknown or its secret is wrong"},
		"the service refuses all tokens": {clientSecret, func(*http.Request) error { return fmt.Errorf("not you") },
			"The service said: not you"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokens, tokenURL := startTokenServer(t, clientSecret)
			_, url := streamstest.Start(t, streamstest.Options{Authorize: test.authorize}, streamstest.Streams(fleetIDs(streamCount)...)...)
			w := newWorkspace(t, url, fleet(streamCount))
			w.setenvs("STREAM_OAUTH2_TOKEN_URL="+tokenURL, "STREAM_OAUTH2_CLIENT_ID=me@tenant", "STREAM_OAUTH2_CLIENT_SECRET="+test.secret)
			r := w.apply()
			wantResult(t, r, 1, "Error: Authentication Error", test.want, notChanged)
			if got := strings.Count(r.text(), test.want); got != streamCount {
				t.Errorf("%d errors, want %d", got, streamCount)
			}
			if got := len(tokens.Requests()); got != 2 {
				t.Errorf("%d token requests, want 2", got)
			}
		})
	}
}
