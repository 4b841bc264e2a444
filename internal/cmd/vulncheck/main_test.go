package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestMain is also the program that the test runs: it prints a message and ends with a status.
func TestMain(m *testing.M) {
	if status := os.Getenv("VULNCHECK_STATUS"); status != "" {
		fmt.Fprintln(os.Stderr, os.Getenv("VULNCHECK_MESSAGE"))
		code, _ := strconv.Atoi(status)
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	const offline = "govulncheck: fetching vulnerabilities: Get \"https://vuln.go.dev/index/modules.json.gz\": dial tcp: no such host"
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		status          int
		message         string
		want            int
		wantsNotChecked bool
	}{
		"nothing found":           {0, "", 0, false},
		"found":                   {3, "", 3, false},
		"found, with the message": {3, offline, 3, false},
		"no network":              {1, offline, 0, true},
		"code does not compile":   {1, "govulncheck: loading packages: undefined: x", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("VULNCHECK_STATUS", strconv.Itoa(test.status))
			t.Setenv("VULNCHECK_MESSAGE", test.message)
			var stdout, stderr strings.Builder
			if got := run(t.Context(), []string{program}, &stdout, &stderr); got != test.want {
				t.Errorf("the exit status is %d, want %d", got, test.want)
			}
			if got := strings.Contains(stdout.String(), "Not checked"); got != test.wantsNotChecked {
				t.Errorf("the output is %q", stdout.String())
			}
			if strings.TrimSpace(stderr.String()) != test.message {
				t.Errorf("the messages are %q", stderr.String())
			}
		})
	}
	for name, command := range map[string][]string{"no command": nil, "no such program": {program + "-none"}} {
		if got := run(t.Context(), command, &strings.Builder{}, &strings.Builder{}); got == 0 {
			t.Errorf("%s: the exit status is 0", name)
		}
	}
}
