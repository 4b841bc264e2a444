package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/claims"
)

// deployment is the name of the deployment that is configured; "" while it is known after apply. The state has the name,
// because streams of two deployments may have the same ids. This file answers every question about the deployment.
type deployment string

// value returns the deployment for a state.
func (d deployment) value() types.String {
	if d == "" {
		return types.StringUnknown()
	}
	return types.StringValue(string(d))
}

// differs reports whether a state is that of another deployment.
func (d deployment) differs(state types.String) bool {
	return d != "" && known(state) && state.ValueString() != string(d)
}

// planned returns the deployment in the plan of a change.
func (d deployment) planned(c change, sends, updated bool) types.String {
	switch {
	case c.kind == create, c.kind == update && sends && c.deployment.IsNull():
		return types.StringUnknown() // the apply of a saved plan may have another address, or nothing to send
	case c.kind == update && !updated:
		return c.deployment
	}
	return d.value()
}

// applied returns the deployment in the state after a change: the former one if the state has nothing of this one.
func (d deployment) applied(c change, after newState) types.String {
	if after.failed && len(after.reported) == 0 {
		return c.deployment
	}
	return d.value()
}

// setFormerAside makes a change one of streams that the state does not have, if the state is that of another deployment,
// where nothing is sent.
func (d deployment) setFormerAside(c *change) {
	if !d.differs(c.deployment) {
		return
	}
	c.was, c.former = nil, c.was
	switch c.kind {
	case update:
		c.kind = redeploy
	case destroy:
		c.kind = forget
	}
}

// check returns the diagnostics of a change whose state is that of another deployment. It refuses to detach the processors of
// streams that never had them from this resource.
func (d deployment) check(c change) (diags diag.Diagnostics) {
	destroys := c.kind == forget && c.old != replaced || c.kind == redeploy && c.leaving == claims.Replaced && len(c.former.without(c.want)) > 0
	former := c.deployment.ValueString()
	const deploymentChanged = "The Deployment Has Changed"
	stateIsOf := fmt.Sprintf("The state is that of deployment %q, and the provider is configured for deployment %q. ", former, d)
	switch {
	case destroys && c.detach:
		var notDetached string // in an apply, Terraform does not name the resource
		switch ids := c.former.without(nil); len(ids) {
		case 0:
		case 1:
			notDetached = fmt.Sprintf("The processors of stream %q cannot be detached. ", ids[0])
		default:
			notDetached = fmt.Sprintf("The processors of stream %q and %d more streams cannot be detached. ", ids[0], len(ids)-1)
		}
		diags.Append(nothingSent(deploymentChanged,
			notDetached+stateIsOf+fmt.Sprintf("A destroy would detach processors at %q that this object never attached.", d),
			fmt.Sprintf("To detach the processors at %q, configure that deployment again. To take the set to %q first, apply without the "+
				"destroy. To leave the processors attached, set on_destroy = \"keep\" and apply, or use a removed block with destroy = "+
				"false. If the resource is tainted, terraform untaint makes it an update. If an earlier apply replaced the "+
				"resource and did not end, this may be the old object: remove the resource with terraform state rm, and apply. That "+
				"sends the set again.", former, d), notChanged))
	case c.kind == redeploy, c.kind == forget && c.detach: // the same for all resources, so that Terraform shows it once
		diags.AddWarning(deploymentChanged, paragraphs(
			stateIsOf+fmt.Sprintf("The apply sends the sets to %q. Streams at %q keep their processors.", d, former),
			fmt.Sprintf("If both are the same deployment, at another address, set deployment = %q in the provider block: then nothing "+
				"is sent.", former)))
	}
	return diags
}
