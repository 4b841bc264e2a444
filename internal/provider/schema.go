package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/stream-management/terraform-provider-stream/internal/report"
	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// Names of the resources.
const (
	singleName = "stream_processors"
	groupName  = "stream_processors_group"
)

const (
	idDescription             = "Id of the stream, the same as `stream_id`."
	terminalIDDescription     = "Id of the terminal that the stream belongs to."
	fragmentTypeIDDescription = "Id of the fragment type of the stream."
	namespacesDescription     = "Namespaces that are compatible with the stream."
	lastEditedDescription     = "Time of the latest edit that the service reported, in milliseconds since 1970-01-01 UTC."
	readDeploymentDescription = "Deployment that the provider read from: its `deployment`, which defaults to `base_url`."
)

// Values of on_create, where null is replace, and of on_destroy.
const (
	onCreateReplace = "replace"
	onCreateRefuse  = "refuse"
	onDestroyDetach = "detach"
	onDestroyKeep   = "keep"
)

var (
	streamIDRule    = checkedString{"a stream id", streams.CheckStreamID}
	processorIDRule = checkedString{"a processor id", streams.CheckProcessorID}
	timeLimitRule   = checkedString{"a time limit", func(text string) error {
		if d, err := time.ParseDuration(text); err != nil || d <= 0 { // every call would exceed a limit of zero or less
			return errors.New(`must be written like "30s", "10m" or "1h30m"`)
		}
		return nil
	}}

	streamIDAttribute = schema.StringAttribute{
		Required: true,
		MarkdownDescription: "Id of the stream: any text except `.` and `..`, without control characters, byte order marks and " +
			"surrounding white space.",
		Validators: []validator.String{streamIDRule},
	}
	processorIDsAttribute = schema.SetAttribute{
		CustomType:          stringSetType,
		Required:            true,
		MarkdownDescription: "Ids of the processors to attach, in any order. An empty set detaches all processors.",
		Validators:          []validator.Set{processorIDRule},
	}
)

// attachmentAttributes adds the attributes of both resources to those of one. limit is the default of its timeouts.
func attachmentAttributes(limit time.Duration, own map[string]schema.Attribute) map[string]schema.Attribute {
	maps.Copy(own, map[string]schema.Attribute{
		"on_create": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "What to do if a stream that is new to the state has other processors: `replace` detaches them; " +
				"`refuse`, which needs `detect_drift`, fails instead. Default: `replace`.",
			Validators: []validator.String{stringvalidator.OneOf(onCreateReplace, onCreateRefuse)},
		},
		"on_destroy": schema.StringAttribute{
			Optional: true,
			Computed: true,
			Default:  stringdefault.StaticString(onDestroyDetach),
			MarkdownDescription: "What to send when the resource is destroyed or leaves a stream: `detach` sends an empty set; `keep` " +
				"sends nothing and leaves the processors attached. Destroy uses the last applied value. " +
				"Default: `detach`.",
			Validators: []validator.String{stringvalidator.OneOf(onDestroyDetach, onDestroyKeep)},
		},
		"triggers": schema.MapAttribute{
			ElementType:         types.StringType,
			Optional:            true,
			MarkdownDescription: "Arbitrary values. When a value changes, the apply sends the set again, in place. Default: none.",
		},
		"timeouts": timeoutsAttribute(limit, map[string]string{
			"create": "create", "read": "read (only with `detect_drift`)", "update": "update", "delete": "destroy",
		}),
		"deployment":  computedString("Deployment that the provider sent to: its `deployment`, which defaults to `base_url`."),
		"last_edited": schema.Int64Attribute{Computed: true, MarkdownDescription: lastEditedDescription},
	})
	return own
}

func computedString(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

func computedSet(description string) schema.SetAttribute {
	return schema.SetAttribute{CustomType: stringSetType, Computed: true, MarkdownDescription: description}
}

// uniqueSetType is the type of sets in which nobody has to look for duplicates: neither Terraform nor [stringSet] makes
// any. The framework compares each element with every other one, which takes minutes for 10,000.
type uniqueSetType struct{ types.SetType }

var stringSetType = uniqueSetType{types.SetType{ElemType: types.StringType}}

func (t uniqueSetType) Equal(o attr.Type) bool { return o == t || t.SetType.Equal(o) }

func (uniqueSetType) Validate(context.Context, tftypes.Value, path.Path) diag.Diagnostics { return nil }

// The defaults of timeouts. That of groups is enough for 10,000 streams and 1.5 seconds for each response, with the default of
// max_concurrent_requests.
const (
	defaultTimeout      = 5 * time.Minute
	defaultGroupTimeout = 30 * time.Minute
)

// timeoutsAttribute is the attribute of the timeouts module with other validators: the module's own validators accept a
// negative time limit, and do not name the limit that they refuse.
func timeoutsAttribute(limit time.Duration, actions map[string]string) schema.Attribute {
	byDefault := fmt.Sprintf("`%dm`", int(limit.Minutes()))
	attributes := map[string]schema.Attribute{}
	for name, action := range actions {
		attributes[name] = schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: fmt.Sprintf("Time limit for %s. Default: %s.", action, byDefault),
			Validators:          []validator.String{timeLimitRule},
		}
	}
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: fmt.Sprintf("Time limits, retries included, as durations such as `30s` or `10m`. Default: %s each.", byDefault),
		Attributes:          attributes,
	}
}

// timeLimit is one of the limits of the attribute timeouts, such as [timeouts.Value.Create].
type timeLimit = func(timeouts.Value, context.Context, time.Duration) (time.Duration, diag.Diagnostics)

func withTimeLimit(ctx context.Context, of report.Subject, limits types.Object, limit timeLimit) (context.Context, context.CancelFunc) {
	byDefault := defaultGroupTimeout
	if of == report.OneStream {
		byDefault = defaultTimeout
	}
	timeout, _ := limit(timeouts.Value{Object: limits}, ctx, byDefault) // the validators have refused what is no limit
	return context.WithTimeout(ctx, timeout)
}

// knownSet converts a set of strings, or returns nil if it is null, or known after apply.
func knownSet(set types.Set) *streams.ProcessorSet {
	var ids []string
	if set.IsNull() || set.ElementsAs(context.Background(), &ids, false).HasError() { // a string cannot be unknown
		return nil
	}
	processors := streams.NewProcessorSet(ids...)
	return &processors
}

func stringSet(texts []string) types.Set {
	values := make([]attr.Value, 0, len(texts))
	for _, text := range texts {
		values = append(values, types.StringValue(text))
	}
	return types.SetValueMust(types.StringType, values)
}
