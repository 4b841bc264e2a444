package provider

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// The attribute timeouts bounds each operation, and each by its own value. Without it, the service would
// respond after a minute.
func TestOperationTimeouts(t *testing.T) {
	t.Parallel()
	service, url := streamstest.Start(t, streamstest.Options{ServeGet: true}, streamstest.Streams("cam-1")...)
	r := newSingleRun(t, coretest.Attributes{"base_url": url, "detect_drift": true, "request_timeout": "5m"})
	limited := func(operation, processor string) tftypes.Value {
		return resourceValue(coretest.Attributes{
			"stream_id": "cam-1", "processor_ids": []string{processor}, "timeouts": coretest.Attributes{operation: "20ms"},
		})
	}
	noResponse := func(method string) {
		service.InjectFunc(func(r streamstest.Request) *streamstest.Fault {
			if r.Method == method {
				return &streamstest.Fault{Delay: patience}
			}
			return nil
		})
	}
	wantTimeout := func(operation string, diags coretest.Diagnostics) {
		t.Helper()
		if text := diags.String(); !diags.Failed() || !strings.Contains(text, "Timeout Error") {
			t.Errorf("%s: %s", operation, text)
		}
	}
	noResponse("PATCH")
	wantTimeout("create", r.apply(limited("create", "p1")))
	service.InjectFunc(nil)
	r.mustApply(cam1("p1"))
	noResponse("PATCH")
	wantTimeout("update", r.apply(limited("update", "p2")))
	service.InjectFunc(nil)
	r.mustApply(limited("delete", "p2"))
	noResponse("PATCH")
	wantTimeout("delete", r.apply(r.null()))
	service.InjectFunc(nil)
	r.mustApply(limited("read", "p2"))
	noResponse("GET")
	wantTimeout("read", r.refresh())
}
