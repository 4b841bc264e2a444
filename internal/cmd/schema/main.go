// Command schema writes the provider's schema to standard output, in the format of "terraform providers
// schema -json", for the documentation generator.
//
// That command of Terraform omits what the installed version does not support: identities before
// Terraform 1.12, actions before 1.14. The output of this command does not depend on the installed CLI.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/stream-management/terraform-provider-stream/internal/server"
)

// object is a JSON object.
type object = map[string]any

func main() {
	ctx, server := context.Background(), server.New("docs", nil)()
	all, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		log.Fatal(err)
	}
	identities, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range append(all.Diagnostics, identities.Diagnostics...) {
		log.Fatalf("%s: %s", d.Summary, d.Detail)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	// The generator finds a provider by its name without host and namespace.
	err = out.Encode(object{"format_version": "1.0", "provider_schemas": object{"stream": object{
		"provider":                  schema(all.Provider),
		"resource_schemas":          convertAll(all.ResourceSchemas, schema),
		"resource_identity_schemas": convertAll(identities.IdentitySchemas, identity),
		"data_source_schemas":       convertAll(all.DataSourceSchemas, schema),
		"list_resource_schemas":     convertAll(all.ListResourceSchemas, schema),
		"action_schemas":            convertAll(all.ActionSchemas, func(a *tfprotov6.ActionSchema) object { return schema(a.Schema) }),
	}}})
	if err != nil {
		log.Fatal(err)
	}
}

func convertAll[T any](all map[string]T, convert func(T) object) object {
	converted := object{}
	for name, element := range all {
		converted[name] = convert(element)
	}
	return converted
}

func schema(s *tfprotov6.Schema) object {
	if len(s.Block.BlockTypes) > 0 {
		log.Fatal("this command only knows attributes: use nested attributes instead of blocks")
	}
	return object{"version": s.Version, "block": object{
		"attributes":       attributes(s.Block.Attributes),
		"description":      s.Block.Description,
		"description_kind": lower(s.Block.DescriptionKind),
		"deprecated":       s.Block.Deprecated,
	}}
}

func attributes(all []*tfprotov6.SchemaAttribute) object {
	converted := object{}
	for _, a := range all {
		attribute := object{
			"description":      a.Description,
			"description_kind": lower(a.DescriptionKind),
			"deprecated":       a.Deprecated,
			"required":         a.Required,
			"optional":         a.Optional,
			"computed":         a.Computed,
			"sensitive":        a.Sensitive,
			"write_only":       a.WriteOnly,
		}
		if a.NestedType != nil {
			attribute["nested_type"] = object{
				"nesting_mode": lower(a.NestedType.Nesting),
				"attributes":   attributes(a.NestedType.Attributes),
			}
		} else {
			attribute["type"] = a.Type
		}
		converted[a.Name] = attribute
	}
	return converted
}

func identity(s *tfprotov6.ResourceIdentitySchema) object {
	converted := object{}
	for _, a := range s.IdentityAttributes {
		converted[a.Name] = object{
			"type":                a.Type,
			"description":         a.Description,
			"required_for_import": a.RequiredForImport,
			"optional_for_import": a.OptionalForImport,
		}
	}
	return object{"version": s.Version, "attributes": converted}
}

func lower(s fmt.Stringer) string { return strings.ToLower(s.String()) }
