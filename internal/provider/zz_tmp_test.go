package provider

import "github.com/hashicorp/terraform-plugin-framework/types"

var identityType = identityValue(types.StringValue("")).Type()
