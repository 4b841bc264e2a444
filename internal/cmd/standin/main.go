// Command standin runs the stand-in service on a loopback address, so that you can try the provider by hand.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// A restart has the same address, which is the deployment in a state. If another program has the port, one of the next is used.
const (
	defaultPort = 8420
	triedPorts  = 100
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done, and then returns nil.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	s, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	}
	listen := func(address string) (net.Listener, error) { return new(net.ListenConfig).Listen(ctx, "tcp", address) }
	var listener net.Listener
	note := ""
	if s.listen != "" {
		listener, err = listen(s.listen)
	} else {
		listener, note, err = listenDefault(listen)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "The stand-in service is running%s. Press Ctrl-C to stop it. In another terminal:\n\n", note)
	variables, handler := s.newService(listener.Addr(), stdout)
	fmt.Fprintf(stdout, "%s\nStreams:\n", variables)
	for _, stream := range s.streams {
		fmt.Fprintf(stdout, "  %s\n", describe(stream))
	}
	if known := s.options.KnownProcessors; known != nil {
		fmt.Fprintf(stdout, "\nKnown processors: %s\n", strings.Join(known, ", "))
	}
	fmt.Fprintf(stdout, "\nRequests:\n")
	return serve(ctx, listener, handler)
}

// listenDefault listens on the default port, or the next free one, which the note then says.
func listenDefault(listen func(address string) (net.Listener, error)) (listener net.Listener, note string, err error) {
	for port := defaultPort; port < defaultPort+triedPorts; port++ {
		found, failed := listen(fmt.Sprintf("127.0.0.1:%d", port))
		if failed == nil {
			return found, note, nil
		}
		note = fmt.Sprintf(" on the next free port, because port %d is in use", defaultPort)
		err = errors.Join(err, failed)
	}
	return nil, "", fmt.Errorf("no free port: %w", err)
}

// newService returns the lines that a user needs to reach the service, and the handler of all requests, which it prints.
func (s *settings) newService(addr net.Addr, stdout io.Writer) (variables string, handler http.Handler) {
	address := "http://" + addr.String()
	export := func(name, value string) { variables += "  export " + name + "=" + value + "\n" }
	export("STREAM_BASE_URL", address)
	var tokens *streamstest.TokenServer
	switch {
	case s.token != "":
		s.options.Authorize = streamstest.Bearer(s.token)
		export("STREAM_TOKEN", shellQuote(s.token))
	case s.basic.name != "":
		s.options.Authorize = streamstest.Basic(s.basic.name, s.basic.secret)
		export("STREAM_USERNAME", shellQuote(s.basic.name))
		export("STREAM_PASSWORD", shellQuote(s.basic.secret))
	case s.oauth2.name != "":
		tokens = &streamstest.TokenServer{
			ClientID: s.oauth2.name, ClientSecret: s.oauth2.secret, Scope: s.scope, Audience: s.audience, Shared: true,
		}
		s.options.Authorize = tokens.Authorize
		export("STREAM_OAUTH2_TOKEN_URL", address+tokenPath)
		export("STREAM_OAUTH2_CLIENT_ID", shellQuote(s.oauth2.name))
		export("STREAM_OAUTH2_CLIENT_SECRET", shellQuote(s.oauth2.secret))
		variables += "\nOr, in place of the secret:\n\n"
		export("STREAM_OAUTH2_CLIENT_ASSERTION", tokens.IssueAssertion(s.oauth2.name))
		if s.scope != "" {
			variables += fmt.Sprintf("\nIn oauth2 of the provider block: scopes = [%q]\n", s.scope)
		}
		if s.audience != "" {
			variables += fmt.Sprintf("\nIn oauth2 of the provider block: endpoint_params = { audience = %q }\n", s.audience)
		}
	}
	s.options.OnRequest = func(r streamstest.Request) { fmt.Fprintf(stdout, "  %s\n", r) }
	service := streamstest.New(s.options, s.streams...)
	service.InjectByStream(s.faults...)
	if tokens == nil {
		return variables, service
	}
	return variables, withTokens(service, tokens, stdout)
}

const tokenPath = "/oauth2/token"

// withTokens puts a token endpoint before the service. It prints no body of its requests, which have secrets.
func withTokens(service *streamstest.Service, tokens *streamstest.TokenServer, stdout io.Writer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != tokenPath {
			service.ServeHTTP(w, r)
			return
		}
		responded := &statusWriter{ResponseWriter: w}
		tokens.ServeHTTP(responded, r)
		fmt.Fprintf(stdout, "  %s %s → %d\n", r.Method, tokenPath, responded.status)
	})
}

// statusWriter keeps the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// serve returns nil when ctx is done. It does not wait for unfinished requests: -latency may be long.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func describe(stream streamstest.Stream) string {
	if len(stream.ProcessorIDs) == 0 {
		return stream.ID
	}
	return stream.ID + ": " + strings.Join(stream.ProcessorIDs, ", ")
}

func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
