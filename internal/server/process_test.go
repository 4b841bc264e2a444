package server

import (
	"strings"
	"testing"
)

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
