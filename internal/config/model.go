package config

import (
	"context"
	"reflect"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// model is the provider block. Where the block does not set an attribute, its environment variable counts: of several, the
// first one that is set. A name or type that is not that of the schema is an error of each [Read].
type model struct {
	BaseURL     text `tfsdk:"base_url" env:"STREAM_BASE_URL"`
	Deployment  text `tfsdk:"deployment" env:"STREAM_DEPLOYMENT"`
	DetectDrift flag `tfsdk:"detect_drift" env:"STREAM_DETECT_DRIFT"`

	Token     text `tfsdk:"token" env:"STREAM_TOKEN"`
	TokenFile text `tfsdk:"token_file" env:"STREAM_TOKEN_FILE"`
	BasicAuth struct {
		object
		Username text `tfsdk:"username" env:"STREAM_USERNAME"`
		Password text `tfsdk:"password" env:"STREAM_PASSWORD"`
	} `tfsdk:"basic_auth"`
	OAuth2 struct {
		object
		TokenURL     text `tfsdk:"token_url" env:"STREAM_OAUTH2_TOKEN_URL"`
		ClientID     text `tfsdk:"client_id" env:"STREAM_OAUTH2_CLIENT_ID"`
		ClientSecret text `tfsdk:"client_secret" env:"STREAM_OAUTH2_CLIENT_SECRET"`
		// HCP Terraform puts a token for a run into the second variable.
		ClientAssertion     text  `tfsdk:"client_assertion" env:"STREAM_OAUTH2_CLIENT_ASSERTION TFC_WORKLOAD_IDENTITY_TOKEN_STREAM"`
		ClientAssertionFile text  `tfsdk:"client_assertion_file" env:"STREAM_OAUTH2_CLIENT_ASSERTION_FILE"`
		Scopes              list  `tfsdk:"scopes"`
		EndpointParams      texts `tfsdk:"endpoint_params"`
	} `tfsdk:"oauth2"`
	Headers texts `tfsdk:"headers" env:"STREAM_HEADERS"`

	TLS struct {
		object
		CACertPEM          text `tfsdk:"ca_cert_pem" env:"STREAM_TLS_CA_CERT_PEM"`
		ClientCertPEM      text `tfsdk:"client_cert_pem" env:"STREAM_TLS_CLIENT_CERT_PEM"`
		ClientKeyPEM       text `tfsdk:"client_key_pem" env:"STREAM_TLS_CLIENT_KEY_PEM"`
		ServerName         text `tfsdk:"server_name"`
		InsecureSkipVerify flag `tfsdk:"insecure_skip_verify"`
	} `tfsdk:"tls"`
	RequestTimeout text `tfsdk:"request_timeout"`
	Retry          struct {
		object
		MaxAttempts number `tfsdk:"max_attempts"`
		MinBackoff  text   `tfsdk:"min_backoff"`
		MaxBackoff  text   `tfsdk:"max_backoff"`
	} `tfsdk:"retry"`
	RequestsPerSecond     number `tfsdk:"requests_per_second"`
	MaxConcurrentRequests number `tfsdk:"max_concurrent_requests"`
}

type (
	text   = value[types.String]
	flag   = value[types.Bool]
	number = value[types.Number] // the framework calls a fraction an error of the provider if the schema has an integer
	list   = value[types.List]
	texts  = value[types.Map]
	object = value[types.Object]
)

// value is an attribute with its value in the provider block.
type value[T attr.Value] struct {
	attribute
	inBlock T
}

// attribute is an attribute of the provider block, or an element of one, whatever its type.
type attribute struct {
	at                path.Path // empty for an environment variable that belongs to no attribute
	isNull, isUnknown bool      // also if the object around it is
	variables         []string  // the environment variables
}

// mainVariable is the environment variable that errors name, and that means a scheme; "" for none.
func (a attribute) mainVariable() string {
	if len(a.variables) == 0 {
		return ""
	}
	return a.variables[0]
}

// setting is an attribute, also one with its value.
type setting interface{ self() attribute }

func (a attribute) self() attribute { return a }

// element returns an element of a collection, which has the variable of the collection.
func (a attribute) element(at path.Path) attribute {
	a.at = at
	return a
}

// read reads an attribute that is in a known object.
func (v *value[T]) read(ctx context.Context, from tfsdk.Config, a attribute) (attribute, diag.Diagnostics) {
	diags := from.GetAttribute(ctx, a.at, &v.inBlock)
	a.isUnknown = a.isUnknown || v.inBlock.IsUnknown()
	a.isNull = !a.isUnknown && v.inBlock.IsNull()
	v.attribute = a
	return a, diags
}

// readable is a [value] of any type, or begins with one.
type readable interface {
	read(ctx context.Context, from tfsdk.Config, a attribute) (attribute, diag.Diagnostics)
}

// readFields reads the attributes of an object into the fields of a struct.
func readFields(ctx context.Context, from tfsdk.Config, in attribute, fields reflect.Value) (diags diag.Diagnostics) {
	for i := range fields.NumField() {
		tag := fields.Type().Field(i).Tag
		name, ok := tag.Lookup("tfsdk")
		if !ok { // the embedded object
			continue
		}
		a := attribute{at: in.at.AtName(name), isUnknown: in.isUnknown, variables: strings.Fields(tag.Get("env"))}
		if to, ok := reflect.TypeAssert[readable](fields.Field(i).Addr()); ok {
			var problems diag.Diagnostics
			a, problems = to.read(ctx, from, a)
			diags.Append(problems...)
		}
		diags.Append(readFields(ctx, from, a, fields.Field(i))...)
	}
	return diags
}
