package config

import (
	"fmt"
	"slices"
	"strings"
)

// scheme is a way to authenticate.
type scheme struct {
	setting
	parts []setting // a value of one means this scheme, in the provider block or in the environment
	read  func()
}

// presence says whether the provider block has a scheme.
type presence int

const (
	absent   presence = iota
	empty             // an object without any value: the scheme is that of the environment, if the block has no other
	possible          // a value is known after apply, and may be null
	certain
)

func (s scheme) presence() presence {
	if s.self().isNull {
		return absent
	}
	found := empty
	for _, part := range s.parts {
		switch p := part.self(); {
		case p.isUnknown:
			found = possible
		case !p.isNull:
			return certain
		}
	}
	return found
}

const secondScheme = "and %s are two ways to authenticate. A request carries one."

// choose returns the scheme of the provider block, or else that of the environment. It refuses a second one of the same source.
// Those of the block that it refuses are returned, too, because their own problems are reported at once. The choice is not
// final while only a value that is known after apply can decide.
func (r *reader) choose(schemes []scheme) (chosen []scheme, isFinal bool) {
	inBlock := map[presence][]scheme{}
	for _, s := range schemes {
		inBlock[s.presence()] = append(inBlock[s.presence()], s)
	}
	for i, s := range inBlock[certain] {
		if i > 0 {
			r.refuse(s, secondScheme, inBlock[certain][0].self().at)
		}
	}
	switch {
	case len(inBlock[certain]) > 0:
		return inBlock[certain], true
	case len(inBlock[possible]) > 0:
		return nil, false
	case len(inBlock[empty]) > 0:
		return r.inEnvironment(inBlock[empty]), true
	}
	return r.inEnvironment(schemes), true
}

// inEnvironment returns the first scheme that is in the environment. It refuses several.
func (r *reader) inEnvironment(schemes []scheme) (found []scheme) {
	var variables []string
	for _, s := range schemes {
		named := len(variables)
		for _, part := range s.parts {
			if variable := part.self().mainVariable(); r.getenv(variable) != "" {
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
		if s.presence() == empty {
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
