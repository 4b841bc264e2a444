package provider

import (
	"pgregory.net/rapid"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
"github.com/hashicorp/terraform-plugin-framework/types"
)

func newComparing(t rapid.TB) tfprotov6.ProviderServer { return NewServer("test")() }

var identityType = identityValue(types.StringValue("")).Type()
