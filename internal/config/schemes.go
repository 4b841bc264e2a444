package config

import (
	"fmt"
	"slices"
	"strings"
)

// scheme is a way to authenticate.
type scheme struct {
	attribute
	parts []attribute // a value of one means this scheme, in the provider block or in the environment
	read  func()
}

// schemeOf returns the scheme of an attribute without parts.
func schemeOf(a attribute, read func(a attribute)) scheme {
	return scheme{a, []attribute{a}, func() { read(a) }}
}

// choose returns the scheme of the provider block, or else that of the environment. It refuses a second one of the same source.
// Those of the block that it refuses are returned, too, because their own problems are reported at once. The choice is not
// final while only a value that is known after apply, and may be null, can decide.
func (r *reader) choose(schemes []scheme) (chosen []scheme, isFinal bool) {
	var inBlock, certain []scheme
	possible := false
	for _, s := range schemes {
		if s.isNull {
			continue
		}
		inBlock = append(inBlock, s)
		if slices.ContainsFunc(s.parts, func(part attribute) bool { return !part.isNull && !part.isUnknown }) {
			certain = append(certain, s)
		}
		possible = possible || slices.ContainsFunc(s.parts, func(part attribute) bool { return part.isUnknown })
	}
	for _, s := range certain[min(1, len(certain)):] {
		r.refuse(s.attribute, "and %s are two ways to authenticate. A request carries one.", certain[0].at)
	}
	switch {
	case len(certain) > 0:
		return certain, true
	case possible:
		return nil, false
	case len(inBlock) > 0: // objects without any value
		return r.inEnvironment(inBlock), true
	}
	return r.inEnvironment(schemes), true
}

// inEnvironment returns the first scheme that is in the environment. It refuses several.
func (r *reader) inEnvironment(schemes []scheme) (found []scheme) {
	var variables []string
	for _, s := range schemes {
		named := len(variables)
		for _, part := range s.parts {
			if variable := part.mainVariable(); r.getenv(variable) != "" {
				variables = append(variables, variable)
			}
		}
		if len(variables) > named {
			found = append(found, s)
		}
	}
	if len(found) > 1 {
		slices.Sort(variables)
		r.diags.AddError(Invalid, fmt.Sprintf("The environment has several ways to authenticate: %s. A request carries one. "+
			"Unset the variables of the others, or set one in the provider block.", strings.Join(variables, ", ")))
	}
	return found[:min(len(found), 1)]
}

// refuseNone reports what may be missing where nothing authenticates requests: the values of an empty object, or those of
// variables that are set.
func (r *reader) refuseNone(schemes []scheme) {
	for _, s := range schemes {
		if !s.isNull {
			s.read()
			return
		}
	}
	for _, s := range schemes {
		for _, part := range s.parts {
			if unfilled := r.empty(part); unfilled != "" {
				r.reportUnset(part, strings.TrimSpace(unfilled)+" If requests need no credentials, unset the variable.")
			}
		}
	}
}
