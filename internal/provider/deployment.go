package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The state says at which deployment its streams are, because two deployments may have streams with the same ids.

// elsewhere reports whether a state is that of another deployment: its streams only have the same ids.
func (s *session) elsewhere(deployment types.String) bool {
	return s != nil && s.deployment != "" && known(deployment) && deployment.ValueString() != s.deployment
}

// deploymentValue is the deployment in the plan and the state.
func (s *session) deploymentValue() types.String {
	if s == nil || s.deployment == "" {
		return types.StringUnknown()
	}
	return types.StringValue(s.deployment)
}

// planDeployment plans the deployment of a resource that the state has.
func (s *session) planDeployment(was types.String, sends, updates bool) types.String {
	switch {
	case !updates:
		return was
	case was.IsNull() && sends: // the plan of the apply may find that there is nothing to send, and thus no update
		return types.StringUnknown()
	}
	return s.deploymentValue()
}

// planElsewhere plans a move to the configured deployment. What the resource leaves is at the deployment of the state,
// where nothing is sent.
func (s *session) planElsewhere(c *change, deployment types.String, leaves, stays bool) diag.Diagnostics {
	if leaves && c.detach {
		return diag.Diagnostics{otherDeploymentError(deployment.ValueString(), s.deployment)}
	}
	c.move()
	if stays {
		return diag.Diagnostics{deploymentChangedWarning(deployment.ValueString(), s.deployment)}
	}
	return nil
}
