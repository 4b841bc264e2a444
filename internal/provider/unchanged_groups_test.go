package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/streamstest"
)

// A plan has the same response with and without the shortcut. before is a plan of another resource in the same run.
func TestUnchangedGroups(t *testing.T) {
	t.Parallel()
	streams := sameSet(3, "p1")
	_, url := streamstest.Start(t, streamstest.Options{}, seeds(streams)...)
	provider := coretest.Attributes{"base_url": url}
	config := group(streams, nil)
	state := mustApply(t, provider, nullGroup(), config)
	leaves := mustApply(t, provider, coretest.Managed{Value: nullResource()}, single("s001", []string{"p1"}))
	kept := group(streams, coretest.Attributes{"on_destroy": "keep"})
	for name, tc := range map[string]struct {
		prior    coretest.Managed
		config   tftypes.Value
		provider coretest.Attributes
		before   func(*coretest.Process)
		answered bool // by the shortcut
	}{
		"unchanged":          {prior: state, config: config, answered: true},
		"changed":            {prior: state, config: group(with(streams, "s001", "p2"), nil)},
		"other trigger":      {prior: state, config: group(streams, coretest.Attributes{"triggers": map[string]string{"t": "1"}})},
		"unknown":            {prior: state, config: coretest.ToTerraform(groupSchema().ValueType(), coretest.Attributes{"streams": tftypes.UnknownValue})},
		"create":             {prior: nullGroup(), config: config},
		"destroy":            {prior: state, config: nullGroup().Value},
		"nothing to nothing": {prior: nullGroup(), config: nullGroup().Value},
		"on_destroy dropped": {prior: mustApply(t, provider, nullGroup(), kept), config: config},
		"another deployment": {prior: state, config: config, provider: coretest.Attributes{"base_url": url, "deployment": "other"}},
		"a departure":        {prior: state, config: config, before: func(p *coretest.Process) { p.Plan(leaves, nullResource()) }},
	} {
		var responses []string
		var answered bool
		for _, shortcut := range []bool{false, true} {
			p := &streamProvider{}
			server := providerserver.NewProtocol6(p)()
			if shortcut {
				server = withUnchangedGroups(server, p)
			}
			process := newProcess(t, server)
			process.Configure(orElse(tc.provider, provider))
			if tc.before != nil {
				tc.before(process)
			}
			planned, _, diags := process.Plan(tc.prior, tc.config)
			responses = append(responses, cmp.Diff(nil, coretest.FromTerraform(planned.Value))+diags.String())
			if u, ok := server.(unchangedGroups); ok {
				answered = u.unchanged(t.Context(), &tfprotov6.PlanResourceChangeRequest{
					PriorState: coretest.DynamicValue(tc.prior.Value), ProposedNewState: coretest.DynamicValue(
						coretest.ProposedState(groupSchema(), tc.prior.Value, tc.config)),
				})
			}
		}
		if diff := cmp.Diff(responses[0], responses[1]); diff != "" || answered != tc.answered {
			t.Errorf("%s: answered by the shortcut: %t; without and with it:\n%s", name, answered, diff)
		}
	}
}

func orElse(config, standard coretest.Attributes) coretest.Attributes {
	if config == nil {
		return standard
	}
	return config
}
