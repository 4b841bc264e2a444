package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

const examples = `
Examples:

  # streams of your own, with the processors that they start with
  go run ./internal/cmd/standin -stream cam-7=p1,p2 -stream cam-8
  # a file with one of them on each line
  go run ./internal/cmd/standin -streams cameras.txt
  # credentials: it prints the variables that a provider needs
  go run ./internal/cmd/standin -token s3cret
  go run ./internal/cmd/standin -basic alice:s3cret
  go run ./internal/cmd/standin -oauth2 terraform:s3cret -scope streams -audience https://streams.example.com
  # a second region, which accepts the tokens of the first one
  go run ./internal/cmd/standin -oauth2 terraform:s3cret -listen 127.0.0.1:8430
  # reads for detect_drift, and an update that fails although the service has applied it
  go run ./internal/cmd/standin -get -fault "PATCH cam-1 2 500 applied"
`

// settings are what the arguments say.
type settings struct {
	options       streamstest.Options
	streams       []streamstest.Stream
	faults        []streamstest.RequestFault
	listen        string // "" means the first free port from defaultPort on
	token         string
	basic, oauth2 pair
	scope         string // of each token
	audience      string // likewise
}

// pair is a name with a secret, such as a user with a password.
type pair struct{ name, secret string }

func (p *pair) Set(value string) error {
	var ok bool
	if p.name, p.secret, ok = strings.Cut(value, ":"); !ok || p.name == "" || p.secret == "" {
		return errors.New("must be like name:secret")
	}
	return nil
}

func (p *pair) String() string { return p.name }

// parse reads the arguments. The error is [flag.ErrHelp] after -help, which prints what can be set.
func parse(args []string, stdout io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("standin", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main prints the error
	flags.StringVar(&s.listen, "listen", "", fmt.Sprintf("loopback `address` to listen on, such as 127.0.0.1:8430; port 0 picks a free one "+
		"(default 127.0.0.1:%d, or the next free port)", defaultPort))
	flags.StringVar(&s.token, "token", "", "require this bearer `token`")
	flags.Var(&s.basic, "basic", "require HTTP Basic credentials, `user:password`")
	flags.Var(&s.oauth2, "oauth2", "require a token of the own token endpoint, for the client `id:secret`, which may also send an assertion")
	flags.StringVar(&s.scope, "scope", "", "with -oauth2, refuse a token request without this `scope`")
	flags.StringVar(&s.audience, "audience", "", "with -oauth2, refuse a token request without this `audience`")
	flags.BoolVar(&s.options.ServeGet, "get", false, "also serve GET, which the interface does not specify")
	flags.BoolVar(&s.options.Merge, "merge", false, "an update adds to the set instead of replacing it")
	flags.BoolVar(&s.options.RefuseEmpty, "refuse-empty", false, "refuse an empty set")
	flags.BoolVar(&s.options.KeepLastEdited, "keep-last-edited", false, "an update leaves last_edited unchanged")
	flags.DurationVar(&s.options.Latency, "latency", 0, "wait this `duration` before each response, such as 500ms")
	flags.Func("stream", "`id[=processor,…]` of a stream that exists, and the processors that it starts with, repeatable "+
		"(default cam-1, cam-2, cam-3)", func(value string) error {
		stream, err := parseStream(value)
		s.streams = append(s.streams, stream)
		return err
	})
	flags.Func("streams", "`file` with such a stream on each line, beside -stream", func(name string) error {
		streams, err := readStreams(name)
		s.streams = append(s.streams, streams...)
		return err
	})
	flags.Func("known", "refuse ids other than these, `processor,…`, repeatable (default: accept any id)", func(value string) error {
		ids, err := parseProcessors(value)
		s.options.KnownProcessors = append(s.options.KnownProcessors, ids...)
		return err
	})
	flags.Func("fault", "`method stream n name` of what goes wrong with the n-th request to a stream, such as "+
		"\"PATCH cam-1 2 500 applied\", repeatable; a wrong name lists all", func(value string) error {
		fault, err := streamstest.ParseRequestFault(value)
		s.faults = append(s.faults, fault)
		return err
	})
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stdout)
			flags.Usage()
			fmt.Fprint(stdout, examples)
		}
		return s, err
	}
	if s.streams == nil {
		s.streams = streamstest.Streams("cam-1", "cam-2", "cam-3")
	}
	return s, s.check(flags.Args())
}

// check returns what is wrong with the arguments together.
func (s *settings) check(rest []string) error {
	schemes := 0
	for _, scheme := range []string{s.token, s.basic.name, s.oauth2.name} {
		if scheme != "" {
			schemes++
		}
	}
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case schemes > 1:
		return errors.New("use only one of -token, -basic and -oauth2")
	case s.scope+s.audience != "" && s.oauth2.name == "":
		return errors.New("-scope and -audience need -oauth2")
	case s.listen != "":
		return checkLoopback(s.listen)
	}
	return nil
}

// readStreams reads a file with a stream on each line. It ignores empty lines.
func readStreams(name string) (streams []streamstest.Stream, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		stream, err := parseStream(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, line, err)
		}
		streams = append(streams, stream)
	}
	if len(streams) == 0 {
		return nil, fmt.Errorf("%s has no stream", name)
	}
	return streams, nil
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
