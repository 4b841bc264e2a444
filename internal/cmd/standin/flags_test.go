package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// -streams reads a stream of each line, beside -stream.
func TestStreamsOfFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "cameras.txt")
	if err := os.WriteFile(name, []byte("gate\r\n\n  lobby=p1,p2\na=b="), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "-stream", "cam-7", "-streams", name, "-listen", "127.0.0.1:0")
	if want := "\nStreams:\n  cam-7\n  gate\n  lobby: p1, p2\n  a=b\n\nRequests:\n"; !strings.HasSuffix(s.banner, want) {
		t.Errorf("printed\n%s\nwant\n%s", s.banner, want)
	}
}

// -help has an example of each way to start.
func TestHelp(t *testing.T) {
	t.Parallel()
	var help strings.Builder
	if err := run(t.Context(), []string{"-help"}, &help); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{
		"-stream ", "-streams ", "-token ", "-basic ", "-oauth2 ", "-scope ", "-audience ", "-listen ", "-get ", "-fault ",
	} {
		if _, examples, _ := strings.Cut(help.String(), "\nExamples:\n"); !strings.Contains(examples, " "+flag) {
			t.Errorf("no example of %s in:\n%s", flag, help.String())
		}
	}
}

func TestRefusesArguments(t *testing.T) {
	t.Parallel()
	nothing := filepath.Join(t.TempDir(), "nothing.txt")
	if err := os.WriteFile(nothing, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"-fault=PATCH cam-1 0 500":  "must be 1 or more",
		"-fault=PATCH cam-1 1 5000": `no fault "5000", only ["200 not applied"`,
		"-listen=:8080":             "not a loopback address",
		"-listen=0.0.0.0:8080":      "not a loopback address",
		"-listen=example.com:80":    "not a loopback address",
		"-listen=127.0.0.1":         "missing port",
		"cam-1":                     `unexpected argument "cam-1"`,
		"-stream==p1":               "must not be empty",
		"-stream=cam-1=p1,,p2":      "must not be empty",
		"-known=p1,":                "must not be empty",
		"-post":                     "not defined",
		"-fault=PATCH":              "a fault must be like",
		"-basic=alice":              "must be like name:secret",
		"-oauth2=terraform:":        "must be like name:secret",
		"-oauth2=:s3cret":           "must be like name:secret",
		"-streams=" + nothing:       "has no stream",
		"-streams=" + nothing + "x": "nothing.txtx",
		"-token=t\n-basic=a:b":      "only one of",
		"-basic=a:b\n-oauth2=c:d":   "only one of",
		"-scope=streams":            "need -oauth2",
		"-audience=a\n-token=t":     "need -oauth2",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // if run accepts the arguments, it returns at once
		if err := run(ctx, strings.Split(args, "\n"), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want an error that contains %q", args, err, want)
		}
	}
	for _, address := range []string{"127.1.2.3:0", "localhost:0", "[::1]:0"} {
		if err := checkLoopback(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}
