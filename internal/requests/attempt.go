package requests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// attempt is what is known of one attempt after its end. It does not change.
type attempt struct {
	secondTry  bool          // it follows a rejection
	backoff    time.Duration // that the delivery itself waited before it
	credential *credential
	forToken   bool // a token request
	short      bool // it had a part of the request timeout
	began      time.Time
	ended      time.Time

	mayBeRead bool // by the host, which a connection has reached
	status    int  // 0 without a response
	head      http.Header
	body      []byte // perhaps not all of it; only of the last response
	err       error  // why there is no response, or not all of it

	health view // that of the endpoint, after the attempt
	beside bool // the endpoint has taken other requests since the attempt before, or since this one began
}

// transmit sends a request, and reads the response. The timeout covers both; late is the error once it has passed. After a failure of
// the host or of the connection, later requests use new connections: behind some balancers, each one belongs to one replica.
func transmit(ctx context.Context, network transport.Network, req *http.Request, timeout time.Duration, late error) attempt {
	a := attempt{began: time.Now()}
	ctx, cancel := attemptContext(ctx, timeout, late)
	defer cancel()
	resp, exchange, err := network.Send(req.WithContext(ctx))
	a.mayBeRead, a.err = exchange.MayBeRead, err
	if err == nil {
		a.status, a.head = resp.StatusCode, resp.Header
		a.body, a.err = readBody(ctx, resp, timeout)
	} else if !a.mayBeRead && errors.Is(err, ErrRequestTimeout) {
		a.err = fmt.Errorf("%w: %w", err, transport.ErrNoConnection)
	}
	if a.err != nil || a.status/100 == 5 {
		exchange.Renew()
	}
	a.ended = time.Now()
	return a
}

// readBody returns the body of a response. Its error is ErrIncomplete.
func readBody(ctx context.Context, resp *http.Response, timeout time.Duration) (body []byte, err error) {
	if resp.StatusCode == http.StatusSwitchingProtocols { // the body is the connection itself, and the timeout would not end it
		err = resp.Body.Close()
	} else if body, err = transport.ReadBody(resp); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, ErrRequestTimeout) {
		err = fmt.Errorf("its end did not arrive within %s", timeout)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	return body, err
}

// attemptContext returns the context of one attempt. An interrupt ends it after five seconds: only the response tells
// whether the stream was changed.
func attemptContext(delivery context.Context, timeout time.Duration, late error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(delivery))
	unregister := context.AfterFunc(delivery, func() {
		grace := 5 * time.Second
		if deadline, hasDeadline := delivery.Deadline(); hasDeadline {
			grace = min(grace, time.Until(deadline))
		}
		time.AfterFunc(grace, func() { cancel(delivery.Err()) })
	})
	ctx, stop := context.WithTimeoutCause(ctx, timeout, late)
	return ctx, func() {
		unregister()
		stop()
	}
}

// isResponse reports whether there is a response that counts. Only a success has to be complete: any other status says enough.
func (a attempt) isResponse() bool { return a.status != 0 && (a.err == nil || a.status/100 != 2) }

// isRejection reports whether the service has rejected the credential.
func (a attempt) isRejection() bool {
	return !a.forToken && a.status == http.StatusUnauthorized
}

// isRefusal reports whether the service has refused the request, perhaps because of its credential.
func (a attempt) isRefusal() bool {
	return a.isRejection() || !a.forToken && a.status == http.StatusForbidden
}

// isUnsent reports whether Go's library refused to send the request.
func (a attempt) isUnsent() bool { return errors.Is(a.err, transport.ErrNotSent) }

// isSilence reports whether nothing came for the whole time of the attempt.
func (a attempt) isSilence() bool {
	return errors.Is(a.err, ErrRequestTimeout) || errors.Is(a.err, transport.ErrNoConnection) || errors.Is(a.err, transport.ErrNoPong)
}

// isEnded reports whether the attempt ended with its operation.
func (a attempt) isEnded() bool {
	return errors.Is(a.err, context.Canceled) || errors.Is(a.err, context.DeadlineExceeded)
}

// failedForNow reports whether the same request may succeed later.
func (a attempt) failedForNow() bool {
	if a.isResponse() {
		return isRetryableStatus(a.status)
	}
	if proxy, refused := errors.AsType[*transport.ProxyError](a.err); refused && proxy.Status != 0 {
		return isRetryableStatus(proxy.Status)
	}
	return !transport.WouldFailAgain(a.err)
}

// isTaken reports whether the endpoint has taken the request: its response would not be another one later, so the endpoint works.
func (a attempt) isTaken() bool { return a.isResponse() && !isRetryableStatus(a.status) }

// isRetryableStatus reports whether the same request may succeed later: after 408, 409, 423, 425, 429 and every 5xx but those that
// are not of the moment. A service behind a content delivery network responds with 520 to 530 for a moment.
func isRetryableStatus(status int) bool {
	return slices.Contains(busy, status) || status == http.StatusRequestTimeout || status/100 == 5 && !slices.Contains(finalFaults, status)
}

// busy are the responses of a service that works, perhaps, and takes the request later, such as after another update.
var busy = []int{
	http.StatusConflict, http.StatusLocked, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusServiceUnavailable,
}

// finalFaults are what is not implemented or supported, and a network that requires a login.
var finalFaults = []int{http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusNetworkAuthenticationRequired}

// mayHaveActed reports whether the attempt may have taken effect although no response says so. Other attempts show nothing about
// it: each one may have reached another node of the service.
func (a attempt) mayHaveActed() bool {
	if a.isResponse() {
		return a.status/100 != 2 && !rulesOut(a.status)
	}
	return a.mayBeRead
}

// rulesOut reports whether a response shows that its request had no effect. It says so with 304, or with a rejection: a
// registered 4xx, but not 408. Proxies send others, such as 499, when they stop waiting for the service.
func rulesOut(status int) bool {
	refused := status/100 == 4 && status != http.StatusRequestTimeout && http.StatusText(status) != ""
	return refused || slices.Contains([]int{301, 302, 304, 307, 308, 501}, status)
}
