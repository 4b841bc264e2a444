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
		"success":              {attempt{status: 200, exchange: answered}, false},
		"incomplete success":   {attempt{status: 200, exchange: answered, err: ErrIncomplete}, true},
		"rejection":            {attempt{status: 422, exchange: answered}, false},
		"incomplete rejection": {attempt{status: 422, exchange: answered, err: ErrIncomplete}, false},
		"timeout of a server":  {attempt{status: 408, exchange: answered}, true},
		"of a proxy":           {attempt{status: 499, exchange: answered}, true},
		"503":                  {attempt{status: 503, exchange: answered}, true},
		"501":                  {attempt{status: 501, exchange: answered}, false},
		"redirect":             {attempt{status: 307, exchange: answered}, false},
		"unsent":               {attempt{err: transport.ErrNotSent, exchange: written}, false},
		"no connection":        {attempt{err: ErrRequestTimeout}, false},
		"interrupted before":   {attempt{err: context.Canceled}, false},
		"not written":          {attempt{err: io.EOF, exchange: transport.Exchange{Connected: true}}, false},
		"broken":               {attempt{err: io.EOF, exchange: written}, true},
		"silence":              {attempt{err: ErrRequestTimeout, exchange: transport.Exchange{Connected: true}}, true},
		"lost ping":            {attempt{err: transport.ErrNoPong, exchange: answered}, true},
		"interrupted":          {attempt{err: context.Canceled, exchange: transport.Exchange{Connected: true}}, true},
		"client rejected":      {attempt{err: alert(116), exchange: written}, false},
		"client rejected late": {attempt{err: alert(116), exchange: answered}, true},
		"another alert":        {attempt{err: alert(80), exchange: written}, true},
		"not HTTP":             {attempt{err: transport.ErrNotHTTP, exchange: written}, true},
		"needs HTTP/1.1":       {attempt{err: transport.ErrNeedsHTTP1, exchange: answered}, false},
	} {
		if got := test.a.mayHaveActed(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
