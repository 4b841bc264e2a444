package server

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// panickingServer is one whose calls all panic.
type panickingServer struct{ fullServer }

// Each call that reaches the provider's code makes a panic an error. The provider has no functions, ephemeral resources or state stores.
func TestPanicsAreErrors(t *testing.T) {
	t.Parallel()
	without := []string{"Function", "Ephemeral", "State", "Schema", "Metadata", "StopProvider", "GenerateResourceConfig"}
	with := []string{"UpgradeResourceState", "ImportResourceState", "MoveResourceState"}
	server := reflect.ValueOf(&stoppingServer{fullServer: recoveringServer{panickingServer{}}})
	calls := 0
	for method, call := range server.Methods() {
		left := func(names []string) bool {
			for _, name := range names {
				if strings.Contains(method.Name, name) {
					return true
				}
			}
			return false
		}
		if left(without) && !left(with) {
			continue
		}
		calls++
		results := call.Call([]reflect.Value{reflect.ValueOf(t.Context()), reflect.New(method.Type.In(2).Elem())})
		if err, _ := reflect.TypeAssert[error](results[1]); err != nil {
			t.Errorf("%s: %v", method.Name, err)
			continue
		}
		for _, d := range diagnosticsOf(t, results[0].Interface()) {
			if !strings.Contains(d.Detail, "The provider panicked: runtime error: invalid memory address") || strings.Contains(d.Detail, ".go:") ||
				!strings.HasSuffix(d.Detail, "may or may not have been changed; run the command again: sending the same set twice is safe.") {
				t.Errorf("%s: %s", method.Name, d.Detail)
			}
		}
	}
	if calls != 17 {
		t.Errorf("%d calls", calls)
	}
}

// diagnosticsOf returns the diagnostics of a response: at least one.
func diagnosticsOf(t *testing.T, resp any) (diags []*tfprotov6.Diagnostic) {
	t.Helper()
	switch resp := resp.(type) {
	case *tfprotov6.ListResourceServerStream:
		for result := range resp.Results {
			diags = append(diags, result.Diagnostics...)
		}
	case *tfprotov6.InvokeActionServerStream:
		for event := range resp.Events {
			completed, _ := event.Type.(tfprotov6.CompletedInvokeActionEventType)
			diags = append(diags, completed.Diagnostics...)
		}
	default:
		diags, _ = reflect.TypeAssert[[]*tfprotov6.Diagnostic](reflect.ValueOf(resp).Elem().FieldByName("Diagnostics"))
	}
	if len(diags) == 0 {
		t.Errorf("%T has no error", resp)
	}
	return diags
}

// A list may have sent results before it panics.
func TestPanicOfEvents(t *testing.T) {
	t.Parallel()
	events := func(push func(error) bool) {
		push(errors.New("first"))
		panic("secret")
	}
	var got []string
	for err := range recoveringEvents(t.Context(), events, func(bug *tfprotov6.Diagnostic) error { return errors.New(bug.Detail) }) {
		got = append(got, err.Error())
	}
	if len(got) != 2 || got[0] != "first" || !strings.Contains(got[1], "The provider panicked.") || strings.Contains(got[1], "secret") {
		t.Errorf("%q", got)
	}
}
