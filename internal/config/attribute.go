package config

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// variables are the environment variables of attributes. Where the provider block does not set an attribute, its variable counts: of
// several, the first one that is set.
var variables = map[string][]string{
	"base_url":            {"STREAM_BASE_URL"},
	"deployment":          {"STREAM_DEPLOYMENT"},
	"detect_drift":        {"STREAM_DETECT_DRIFT"},
	"token":               {"STREAM_TOKEN"},
	"token_file":          {"STREAM_TOKEN_FILE"},
	"basic_auth.username": {"STREAM_USERNAME"},
	"basic_auth.password": {"STREAM_PASSWORD"},
	"headers":             {"STREAM_HEADERS"},

	"oauth2.token_url":     {"STREAM_OAUTH2_TOKEN_URL"},
	"oauth2.client_id":     {"STREAM_OAUTH2_CLIENT_ID"},
	"oauth2.client_secret": {"STREAM_OAUTH2_CLIENT_SECRET"},
	// HCP Terraform puts a token for a run into the second variable.
	"oauth2.client_assertion":      {"STREAM_OAUTH2_CLIENT_ASSERTION", "TFC_WORKLOAD_IDENTITY_TOKEN_STREAM"},
	"oauth2.client_assertion_file": {"STREAM_OAUTH2_CLIENT_ASSERTION_FILE"},

	"tls.ca_cert_pem":     {"STREAM_TLS_CA_CERT_PEM"},
	"tls.client_cert_pem": {"STREAM_TLS_CLIENT_CERT_PEM"},
	"tls.client_key_pem":  {"STREAM_TLS_CLIENT_KEY_PEM"},
}

// attribute is an attribute of the provider block with its value there, or an element of one.
type attribute struct {
	at                path.Path  // empty for an environment variable that belongs to no attribute
	inBlock           attr.Value // nil if the object around it is null or known after apply
	isNull, isUnknown bool       // also if the object around it is
	variables         []string   // the environment variables
}

// mainVariable is the environment variable that errors name, and that means a scheme; "" for none.
func (a attribute) mainVariable() string {
	if len(a.variables) == 0 {
		return ""
	}
	return a.variables[0]
}

// text returns "" for a value that is null or known after apply.
func (a attribute) text() string {
	text, _ := a.inBlock.(types.String)
	return text.ValueString()
}

// isEmpty reports whether the provider block has an empty text.
func (a attribute) isEmpty() bool { return !a.isNull && !a.isUnknown && a.text() == "" }

func (a attribute) isTrue() bool {
	flag, _ := a.inBlock.(types.Bool)
	return flag.ValueBool()
}

// list returns the elements of a list, and elements those of a map.
func (a attribute) list() []attr.Value {
	list, _ := a.inBlock.(types.List)
	return list.Elements()
}

func (a attribute) elements() map[string]attr.Value {
	texts, _ := a.inBlock.(types.Map)
	return texts.Elements()
}

// element returns an element of a collection, which has the variable of the collection.
func (a attribute) element(at path.Path) attribute {
	a.at = at
	return a
}

// collect adds the attributes of an object to all, by their paths.
func collect(all map[string]attribute, in attribute, of attr.Type) {
	object, _ := of.(types.ObjectType)     // other types have no attributes
	values, _ := in.inBlock.(types.Object) // nor have values that are null or known after apply
	inBlock := values.Attributes()
	for name, typ := range object.AttrTypes {
		a := attribute{at: in.at.AtName(name), inBlock: inBlock[name]}
		a.variables = variables[a.at.String()]
		a.isUnknown = in.isUnknown || a.inBlock != nil && a.inBlock.IsUnknown()
		a.isNull = !a.isUnknown && (a.inBlock == nil || a.inBlock.IsNull())
		all[a.at.String()] = a
		collect(all, a, typ)
	}
}
