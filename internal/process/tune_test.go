package process

import (
	"os"
	"strings"
	"testing"
)

// Tune silences traces of the framework that walk a context which grows with each value: two places assign ctx in a
// closure that is called for each value, in server_planresourcechange.go and write_only_nullification.go. With another
// version of the framework, look whether they still do. If not, TF_LOG_SDK_FRAMEWORK can go.
func TestFrameworkTracesAreSlow(t *testing.T) {
	t.Parallel()
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(module), "github.com/hashicorp/terraform-plugin-framework v1.19.0\n") {
		t.Error("look at the framework again, see the comment of this test")
	}
}

func TestLogsWanted(t *testing.T) {
	t.Parallel()
	for environ, want := range map[string]bool{
		"":                                  false,
		"TF_LOG=":                           false,
		"TF_LOG=off":                        false,
		"TF_LOG=OFF":                        false,
		"TF_LOG_PATH=/tmp/log":              false,
		"TF_LOG_CORE=TRACE":                 false,
		"TF_LOGS=TRACE":                     false,
		"TF_LOG=INFO":                       true,
		"TF_LOG=json":                       true,
		"TF_LOG_PROVIDER=DEBUG":             true,
		"TF_LOG_PROVIDER_STREAM=DEBUG":      true,
		"TF_LOG_SDK=TRACE":                  true,
		"TF_LOG_SDK_PROTO=TRACE":            true,
		"TF_LOG_SDK_FRAMEWORK=TRACE":        true,
		"TF_LOG_SDK_PROTO_DATA_DIR=/tmp/in": true,
	} {
		if got := logsWanted([]string{"HOME=/", environ}); got != want {
			t.Errorf("logsWanted(%q) = %t, want %t", environ, got, want)
		}
	}
}
