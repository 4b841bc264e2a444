package streams

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const onlyOnce = "another operation has used up its attempts and there was no response since"

// When one operation has used up its attempts without a response, the others make one each, until there
// is a response.
func TestUnreachableService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := scripted(failWith(errConnectionRefused))
		c := clientOver(t, Config{}, down)
		if e := update(t, c); e == nil || e.Attempts != 5 || strings.Contains(e.Reason, onlyOnce) {
			t.Fatalf("the first error: %#v", e)
		}
		start := time.Now()
		for range 100 {
			if e := update(t, c); e == nil || e.Attempts != 1 || !strings.Contains(e.Reason, onlyOnce) || e.Outcome != NotChanged {
				t.Fatalf("a later error: %#v", e)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("100 operations took %s", took)
		}
		c.base = scripted(respond(404, laterBody))
		if e := update(t, c); e == nil || e.Status != 404 {
			t.Fatalf("the error of the service: %#v", e)
		}
		c.base = down
		if e := update(t, c); e == nil || e.Attempts != 5 || strings.Contains(e.Reason, onlyOnce) {
			t.Errorf("the first error after a response: %#v", e)
		}
	})
}

// A response during the attempts of an operation shows that the service is there.
func TestOneUnreachableStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clientOver(t, Config{}, transportFunc(func(req *http.Request) (*http.Response, error) {
			if strings.HasSuffix(req.URL.Path, "/s1") {
				return nil, errConnectionRefused
			}
			return respondSuccess(req)
		}))
		var operations sync.WaitGroup
		operations.Go(func() {
			for range 3 {
				if e := update(t, c); e == nil || e.Attempts != 5 {
					t.Errorf("error %#v", e)
				}
			}
		})
		for range 100 {
			<-time.After(time.Second)
			_, _ = c.UpdateStream(t.Context(), "other", NewProcessorSet()) // the response describes s1
		}
		operations.Wait()
	})
}

// An outage of seconds is shorter than all attempts of any operation.
func TestShortOutage(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			back := time.Now().Add(4 * time.Second)
			c := clientOver(t, Config{}, transportFunc(func(req *http.Request) (*http.Response, error) {
				if time.Now().Before(back) {
					return nil, errConnectionRefused
				}
				return respondSuccess(req)
			}))
			var operations sync.WaitGroup
			for range 10 {
				operations.Go(func() {
					for range 10 {
						if e := update(t, c); e != nil {
							t.Errorf("error %v", e)
						}
					}
				})
			}
			operations.Wait()
		})
	}
}

// The token endpoint is not the service.
func TestUnreachableTokenEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := clientOver(t, Config{OAuth2: &OAuth2{TokenURL: "https://token.example"}}, scripted(failWith(errConnectionRefused)))
		for _, want := range []int{5, 1, 1} {
			if e := update(t, c); e == nil || e.Attempts != want || e.Method != http.MethodPost {
				t.Errorf("error %#v, want %d attempts", e, want)
			}
		}
		if c.reachability.isLost() {
			t.Error("the service counts as unreachable, too")
		}
	})
}
