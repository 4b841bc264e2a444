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
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
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

// printStart prints how to use the service, and what it holds.
func printStart(stdout io.Writer, addr net.Addr, token string, streams []streamstest.Stream, known []string) {
	fmt.Fprintf(stdout, "The stand-in service is running. Press Ctrl-C to stop it. In another terminal:\n\n")
	fmt.Fprintf(stdout, "  export STREAM_BASE_URL=http://%s\n", addr)
	if token != "" {
		fmt.Fprintf(stdout, "  export STREAM_TOKEN=%s\n", shellQuote(token))
	}
	fmt.Fprintf(stdout, "\nStreams:\n")
	for _, stream := range streams {
		fmt.Fprintf(stdout, "  %s\n", describe(stream))
	}
	if known != nil {
		fmt.Fprintf(stdout, "\nKnown processors: %s\n", strings.Join(known, ", "))
	}
	fmt.Fprintf(stdout, "\nRequests:\n")
}

// run serves until ctx is done, and then returns nil.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	var opts streamstest.Options
	var streams []streamstest.Stream
	var faults []streamstest.RequestFault
	var listen, token string

	flags := flag.NewFlagSet("standin", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main prints the error
	flags.StringVar(&listen, "listen", "127.0.0.1:0", "loopback `address` to listen on; port 0 picks a free one")
	flags.StringVar(&token, "token", "", "require this bearer `token`")
	flags.BoolVar(&opts.ServeGet, "get", false, "also serve GET, which the interface does not specify")
	flags.BoolVar(&opts.Merge, "merge", false, "an update adds to the set instead of replacing it")
	flags.BoolVar(&opts.RefuseEmpty, "refuse-empty", false, "refuse an empty set")
	flags.BoolVar(&opts.KeepLastEdited, "keep-last-edited", false, "an update leaves last_edited unchanged")
	flags.DurationVar(&opts.Latency, "latency", 0, "wait this `duration` before each response, such as 500ms")
	flags.Func("stream", "`id[=processor,…]` of a stream that exists, and the processors that it starts with, repeatable "+
		"(default cam-1, cam-2, cam-3)", func(value string) error {
		stream, err := parseStream(value)
		streams = append(streams, stream)
		return err
	})
	flags.Func("known", "refuse ids other than these, `processor,…`, repeatable (default: accept any id)", func(value string) error {
		ids, err := parseProcessors(value)
		opts.KnownProcessors = append(opts.KnownProcessors, ids...)
		return err
	})
	flags.Func("fault", "`method stream n name` of what goes wrong with the n-th request to a stream, such as "+
		"\"PATCH cam-1 2 500 applied\", repeatable; a wrong name lists all", func(value string) error {
		fault, err := streamstest.ParseRequestFault(value)
		faults = append(faults, fault)
		return err
	})
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(stdout)
		flags.Usage()
		return nil
	case err != nil:
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if streams == nil {
		streams = []streamstest.Stream{{ID: "cam-1"}, {ID: "cam-2"}, {ID: "cam-3"}}
	}
	if token != "" {
		opts.Authorize = streamstest.Bearer(token)
	}

	if err := checkLoopback(listen); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	printStart(stdout, listener.Addr(), token, streams, opts.KnownProcessors)
	opts.OnRequest = func(r streamstest.Request) { fmt.Fprintf(stdout, "  %s\n", r) }
	service := streamstest.New(opts, streams...)
	service.InjectByStream(faults...)
	return serve(ctx, listener, service)
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

// parseStream reads "id" or "id=processor,…". An id may contain "=", so the list starts after the last one.
func parseStream(value string) (streamstest.Stream, error) {
	id, list := value, ""
	if i := strings.LastIndex(value, "="); i >= 0 {
		id, list = value[:i], value[i+1:]
	}
	stream := streamstest.Stream{ID: id}
	if id == "" {
		return stream, errors.New("a stream id must not be empty")
	}
	var err error
	if list != "" {
		stream.ProcessorIDs, err = parseProcessors(list)
	}
	return stream, err
}

// parseProcessors reads one or more ids separated by commas.
func parseProcessors(value string) ([]string, error) {
	ids := strings.Split(value, ",")
	for _, id := range ids {
		if id == "" || strings.TrimSpace(id) != id {
			return nil, fmt.Errorf("a processor id must not be empty, or begin or end with white space: %q", id)
		}
	}
	return ids, nil
}

func describe(stream streamstest.Stream) string {
	if len(stream.ProcessorIDs) == 0 {
		return stream.ID
	}
	return stream.ID + ": " + strings.Join(stream.ProcessorIDs, ", ")
}

// checkLoopback refuses addresses that other machines can reach.
func checkLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("-listen %s: not a loopback address", address)
	}
	return nil
}

func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
