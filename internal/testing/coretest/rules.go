package coretest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// This file has what Terraform core does to a configuration before a plan, and what it accepts of a plan and of an apply.

// Ignored is the configuration of a resource after ignore_changes, as the provider gets it. What is ignored is written as in a
// configuration, such as `streams["cam-1"]`, or "all". A resource that does not exist ignores nothing.
func Ignored(s *tfprotov6.Schema, prior, config tftypes.Value, ignored ...string) tftypes.Value {
	if prior.IsNull() || config.IsNull() {
		return config
	}
	was, is := AttributesOf(prior), AttributesOf(config)
	for _, what := range ignored {
		name, key, isElement := strings.Cut(strings.TrimSuffix(what, `"]`), `["`)
		switch {
		case what == "all":
			is = was
			for _, a := range s.Block.Attributes {
				if a.Computed && !a.Optional {
					is[a.Name] = nullOf(a.Type)
				}
			}
		case isElement:
			is[name] = ignoredElement(was[name], is[name], key)
		default:
			is[name] = was[name]
		}
	}
	return tftypes.NewValue(config.Type(), is)
}

// ignoredElement gives a map the element, or the absence of an element, that another map has.
func ignoredElement(prior, config tftypes.Value, key string) tftypes.Value {
	if !config.IsKnown() || EqualValues(prior, config) {
		return config
	}
	was, is := elementsOf(prior), elementsOf(config)
	if element, has := was[key]; has {
		is[key] = element
	} else {
		delete(is, key)
	}
	if config.IsNull() && len(is) == 0 {
		return config
	}
	return tftypes.NewValue(config.Type(), is)
}

// elementsOf returns the elements of a map. A map that is null or unknown has none.
func elementsOf(v tftypes.Value) map[string]tftypes.Value {
	all := map[string]tftypes.Value{}
	if !v.IsNull() && v.IsKnown() {
		maps.Copy(all, AttributesOf(v))
	}
	return all
}

// InvalidPlan returns what core does not accept of a plan. Config is what the provider got.
func InvalidPlan(s *tfprotov6.Schema, prior, config, planned tftypes.Value) (wrong []string) {
	if planned.IsNull() || config.IsNull() {
		if planned.IsNull() != config.IsNull() {
			wrong = []string{fmt.Sprintf("planned %v of %v", FromTerraform(planned), FromTerraform(config))}
		}
		return wrong
	}
	was, is, plan := elementsOf(prior), AttributesOf(config), AttributesOf(planned)
	for _, a := range s.Block.Attributes {
		old, has := was[a.Name]
		kept := has && !old.IsNull() && !is[a.Name].IsNull() && EqualValues(plan[a.Name], old)
		computed := a.Computed && (!a.Optional || is[a.Name].IsNull())
		if !kept && !computed && !EqualValues(plan[a.Name], is[a.Name]) {
			wrong = append(wrong, fmt.Sprintf("%s: planned %v of %v", a.Name, FromTerraform(plan[a.Name]), FromTerraform(is[a.Name])))
		}
	}
	return wrong
}

// Incompatible returns where a value is no completion of a planned one. What is unknown may become anything.
func Incompatible(planned, actual tftypes.Value) (wrong []string) {
	return incompatible("", FromTerraform(planned), FromTerraform(actual))
}

func incompatible(at string, planned, actual any) (wrong []string) {
	if planned == tftypes.UnknownValue {
		return nil
	}
	want, isMap := planned.(map[string]any)
	got, stays := actual.(map[string]any)
	if !isMap || !stays {
		if fmt.Sprintf("%#v", planned) != fmt.Sprintf("%#v", actual) {
			wrong = []string{fmt.Sprintf("%s: planned %#v, and got %#v", at, planned, actual)}
		}
		return wrong
	}
	names := maps.Clone(want)
	maps.Copy(names, got)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, wanted := want[name]
		is, found := got[name]
		if wanted != found {
			wrong = append(wrong, fmt.Sprintf("%s.%s: planned: %t, found: %t", at, name, wanted, found))
		} else {
			wrong = append(wrong, incompatible(at+"."+name, was, is)...)
		}
	}
	return wrong
}
