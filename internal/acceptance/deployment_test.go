package acceptance

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// deployment is a deployment of the service, and what the tests may do there. The tests change one stream, and assume
// nothing that the interface document leaves open.
type deployment struct {
	streamID       string
	processorIDs   []string // at least one
	keepProcessors bool     // leave the stream as last applied
	environment    []string // of the provider
}

// realDeployment is the deployment that the environment names; nil means the stand-in service.
var realDeployment = sync.OnceValues(func() (*deployment, error) {
	if os.Getenv("TF_ACC") == "" {
		return nil, nil
	}
	return readDeployment()
})

// skipOnRealDeployment skips a test that needs the stand-in service if the environment names a deployment.
func skipOnRealDeployment(t *testing.T) {
	t.Helper()
	if d, _ := realDeployment(); d != nil {
		t.Skip("needs the switches of the stand-in service, and STREAM_BASE_URL names another one")
	}
}

// readDeployment returns nil if the environment names no deployment.
func readDeployment() (*deployment, error) {
	address, ids, keep := os.Getenv("STREAM_BASE_URL"), os.Getenv("STREAM_ACC_PROCESSOR_IDS"), os.Getenv("STREAM_ACC_KEEP")
	d := &deployment{streamID: os.Getenv("STREAM_ACC_STREAM_ID")}
	switch {
	case address == "" && d.streamID == "" && ids == "":
		return nil, nil
	case address == "" || d.streamID == "" || ids == "":
		return nil, errors.New("to run the acceptance tests on a real deployment, set STREAM_BASE_URL, STREAM_ACC_STREAM_ID and " +
			"STREAM_ACC_PROCESSOR_IDS; to run them on the stand-in service, unset all three")
	}
	if keep != "" {
		var err error
		if d.keepProcessors, err = strconv.ParseBool(keep); err != nil {
			return nil, fmt.Errorf("STREAM_ACC_KEEP: %w", err)
		}
	}
	for id := range strings.SplitSeq(ids, ",") {
		d.processorIDs = append(d.processorIDs, strings.TrimSpace(id))
	}
	slices.Sort(d.processorIDs)
	d.processorIDs = slices.Compact(d.processorIDs)
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, "STREAM_") && !strings.HasPrefix(variable, "STREAM_ACC_") {
			d.environment = append(d.environment, variable)
		}
	}
	return d, nil
}
