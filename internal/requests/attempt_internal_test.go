package requests

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"testing"

	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// Whether an attempt may have taken effect follows from what is known of it.
func TestMayHaveActed(t *testing.T) {
	t.Parallel()
	alert := func(code tls.AlertError) error { return &net.OpError{Op: "remote error", Err: code} }
	written := transport.Exchange{Connected: true, Written: true}
	answered := transport.Exchange{Connected: true, Written: true, Answered: true}
	for name, test := range map[string]struct {
		a    attempt
		want bool
	}{
		"success":              {attempt{status: 200, sent: answered}, false},
		"incomplete success":   {attempt{status: 200, sent: answered, err: ErrIncomplete}, true},
		"rejection":            {attempt{status: 422, sent: answered}, false},
		"incomplete rejection": {attempt{status: 422, sent: answered, err: ErrIncomplete}, false},
		"timeout of a server":  {attempt{status: 408, sent: answered}, true},
		"of a proxy":           {attempt{status: 499, sent: answered}, true},
		"503":                  {attempt{status: 503, sent: answered}, true},
		"501":                  {attempt{status: 501, sent: answered}, false},
		"redirect":             {attempt{status: 307, sent: answered}, false},
		"unsent":               {attempt{err: transport.ErrNotSent, sent: written}, false},
		"no connection":        {attempt{err: ErrRequestTimeout}, false},
		"interrupted before":   {attempt{err: context.Canceled}, false},
		"not written":          {attempt{err: io.EOF, sent: transport.Exchange{Connected: true}}, false},
		"broken":               {attempt{err: io.EOF, sent: written}, true},
		"silence":              {attempt{err: ErrRequestTimeout, sent: transport.Exchange{Connected: true}}, true},
		"lost ping":            {attempt{err: transport.ErrNoPong, sent: answered}, true},
		"interrupted":          {attempt{err: context.Canceled, sent: transport.Exchange{Connected: true}}, true},
		"client rejected":      {attempt{err: alert(116), sent: written}, false},
		"client rejected late": {attempt{err: alert(116), sent: answered}, true},
		"another alert":        {attempt{err: alert(80), sent: written}, true},
		"not HTTP":             {attempt{err: transport.ErrNotHTTP, sent: written}, true},
		"needs HTTP/1.1":       {attempt{err: transport.ErrNeedsHTTP1, sent: answered}, false},
	} {
		if got := test.a.mayHaveActed(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
