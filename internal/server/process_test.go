package server

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A process sees the words of its parent's command line. The test starts its own program.
func TestCommand(t *testing.T) {
	t.Parallel()
	const asChild = "COMMAND_OF_PARENT"
	if os.Getenv(asChild) != "" {
		fmt.Println(Command())
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCommand$")
	child.Env = append(os.Environ(), asChild+"=1")
	out, err := child.Output()
	if err != nil {
		t.Fatal(err)
	}
	told := slices.ContainsFunc(os.Args[1:], func(word string) bool { return strings.Contains(string(out), word) })
	if isWindows := runtime.GOOS == "windows"; told == isWindows {
		t.Errorf("the words are %s", out)
	}
}

func TestLogsWanted(t *testing.T) {
	t.Parallel()
	for environ, want := range map[string]bool{
		"":                             false,
		"TF_LOG=":                      false,
		"TF_LOG=off":                   false,
		"TF_LOG=OFF":                   false,
		"TF_LOG_PATH=/tmp/log":         false,
		"TF_LOG_CORE=TRACE":            false,
		"TF_LOG=INFO":                  true,
		"TF_LOG=json":                  true,
		"TF_LOG_PROVIDER=DEBUG":        true,
		"TF_LOG_PROVIDER_STREAM=DEBUG": true,
		"TF_LOG_SDK=TRACE":             true,
		"TF_LOG_SDK_PROTO=TRACE":       true,
		"TF_LOG_SDK_FRAMEWORK=TRACE":   true,
	} {
		name, value, _ := strings.Cut(environ, "=")
		variables := map[string]string{name: value}
		if got := logsWanted(func(name string) string { return variables[name] }); got != want {
			t.Errorf("logsWanted with %q = %t, want %t", environ, got, want)
		}
	}
}
