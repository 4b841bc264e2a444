package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// resolverOf returns a resolver of a name server for which every name has these addresses.
func resolverOf(t *testing.T, addresses ...[4]byte) *net.Resolver {
	respond := func(conn net.Conn) {
		defer conn.Close()
		query := make([]byte, 2048)
		n, err := conn.Read(query)
		var message dnsmessage.Message
		if err = errors.Join(err, message.Unpack(query[2:n])); err != nil { // after the length, as over TCP
			t.Error(err)
			return
		}
		message.Response, message.Additionals = true, nil
		if question := message.Questions[0]; question.Type == dnsmessage.TypeA {
			for _, address := range addresses {
				header := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class, TTL: 1}
				message.Answers = append(message.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: address}})
			}
		}
		response, err := message.AppendPack(make([]byte, 2))
		if err != nil {
			t.Error(err)
			return
		}
		response[0], response[1] = byte((len(response)-2)>>8), byte(len(response)-2)
		_, _ = conn.Write(response)
	}
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go respond(server)
		return client, nil
	}}
}

// An address of a name that is silent does not keep the client from the others.
func TestSilentAddress(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	live, silent, another := [4]byte{127, 0, 0, 1}, [4]byte{127, 0, 0, 2}, [4]byte{127, 0, 0, 3}
	for name, test := range map[string]struct {
		addresses [][4]byte
		works     bool
	}{
		"all answer": {[][4]byte{live}, true}, "the first of two": {[][4]byte{silent, live}, true},
		"two of three": {[][4]byte{silent, another, live}, true},
		"all":          {[][4]byte{silent, another}, false}, "the only one": {[][4]byte{silent}, false},
	} {
		resolver := resolverOf(t, test.addresses...)
		found, err := resolver.LookupHost(t.Context(), "streams.example") // package net makes what it shares outside of the bubble
		if err != nil || len(found) != len(test.addresses) {
			t.Fatal(found, err)
		}
		synctest.Test(t, func(t *testing.T) {
			d := newDialer()
			d.Resolver = resolver
			var tried []string
			d.ControlContext = func(ctx context.Context, _, address string, _ syscall.RawConn) error {
				host, _, _ := net.SplitHostPort(address)
				if tried = append(tried, host); host == "127.0.0.1" {
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}
			start := time.Now()
			c, err := d.DialContext(t.Context(), "tcp", "streams.example:"+port)
			if took := time.Since(start); (err == nil) != test.works || took > dialLimit {
				t.Errorf("%s: %v after %s", name, err, took)
			}
			if err == nil {
				_ = c.Close()
			}
			if last := slices.Contains(tried, "127.0.0.1"); last != test.works || len(tried) != len(test.addresses) {
				t.Errorf("%s: tried %q", name, tried)
			}
		})
	}
}

// brokenConn fails to write.
type brokenConn struct {
	net.Conn
	err error
}

func (c brokenConn) Write([]byte) (int, error) { return 0, c.err }

// A request that cannot be written, because the other side has ended the connection, waits for its alert.
func TestLastWords(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err   error
		waits time.Duration
	}{
		"ended": {&net.OpError{Op: "write", Err: syscall.EPIPE}, lastWords}, "closed here": {&net.OpError{Op: "write", Err: net.ErrClosed}, 0},
		"a pipe": {io.ErrClosedPipe, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			start, u := time.Now(), &url.URL{Scheme: "http", Host: "127.0.0.1"}
			n := NewNetwork(Settings{DialContext: func(context.Context, string, string) (net.Conn, error) {
				client, _ := net.Pipe()
				return brokenConn{client, test.err}, nil
			}}, u, nil)
			_, x, err := n.Send(&http.Request{Method: http.MethodPatch, URL: u, Header: http.Header{}})
			if took := time.Since(start); !errors.Is(err, test.err) || took != test.waits || !x.MayBeRead {
				t.Errorf("%s: %v after %s, %+v", name, err, took, x)
			}
		})
	}
}
