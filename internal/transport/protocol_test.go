package transport_test

import (
	"errors"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	. "github.com/stream-management/terraform-provider-stream/internal/scripted"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// A port that does not speak plain HTTP/1.1 has not read the request, and will not read the next one either.
func TestOtherProtocol(t *testing.T) {
	t.Parallel()
	const alert, frame = "\x15\x03\x01\x00\x02\x02\x0a", "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x04\x00\x10\x00\x00"
	for answer, protocol := range map[string]string{alert: "TLS", alert[:2]: "TLS", frame: "HTTP/2"} {
		s := StartService(t, RespondRaw(answer))
		e := s.UpdateError(t, requests.Config{})
		WantFailed(t, e, streams.KindConnection, streams.NotChanged, 1)
		if other, ok := errors.AsType[*transport.ProtocolError](e.Err); !ok || other.Protocol != protocol {
			t.Errorf("%q: %#v", answer, e.Err)
		}
		if want := "the connection failed: the port speaks " + protocol + ", not HTTP/1.1"; e.Reason != want {
			t.Errorf("%q: %s", answer, e.Reason)
		}
		endpoint := StartService(t, RespondRaw(answer))
		e = StartService(t, ApplyUpdate).UpdateError(t, requests.Config{OAuth2: &requests.OAuth2{TokenURL: endpoint.URL, ClientID: "c", ClientSecret: "s"}})
		WantFailed(t, e, streams.KindConnection, streams.NotChanged, 1)
		endpoint.WantRequests(t, 1)
	}
	for _, answer := range []string{"HTTP/1.1 200 OK\r\n\r\n", "\x15", "220 mail.example ready\r\n"} {
		e := StartService(t, RespondRaw(answer)).UpdateError(t, requests.Config{})
		if e.Outcome != streams.Unknown || errors.As(e.Err, new(*transport.ProtocolError)) {
			t.Errorf("%q: %#v", answer, e)
		}
	}
}
