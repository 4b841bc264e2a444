package claims

import "slices"

// roles returns what a run can ask of a single resource, or of a group.
func roles(group bool) (all []role) {
	holder := object{exists: true, has: true, set: setA}
	tainted := holder
	tainted.tainted = true
	base := config{exists: true, wants: true, set: setA}
	add := func(name string, o object, change func(c *config)) {
		for _, r := range []struct {
			name      string
			cbd, keep bool
		}{{"", false, false}, {", keep", false, true}, {", cbd", true, false}} {
			c := base
			change(&c)
			_, verb := c.calls(o, group)
			replaces := verb == destroyThenCreate
			if r.cbd && !replaces || r.keep && (replaces && c.wants || verb == update && o.has && c.set == setA) {
				continue
			}
			old := base
			if !o.has {
				old = config{exists: o.exists}
			}
			c.cbd, c.keep, old.cbd, old.keep = r.cbd, r.keep, r.cbd, r.keep
			all = append(all, role{name + r.name, o, old, c})
		}
	}
	sets := func(name string, o object, change func(c *config)) {
		for _, s := range []struct {
			name string
			set  set
			late bool
		}{{" [a]", setA, false}, {" [b]", setB, false}, {" late [a]", setA, true}, {" late [b]", setB, true}} {
			add(name+s.name, o, func(c *config) {
				change(c)
				c.set, c.late = s.set, s.late
			})
		}
	}
	sets("created with", object{}, func(*config) {})
	if group {
		sets("gets the key with", object{exists: true}, func(*config) {})
	}
	sets("kept with", holder, func(*config) {})
	sets("replaced with", holder, func(c *config) { c.replace = true })
	sets("tainted with", tainted, func(*config) {})
	add("other change", holder, func(c *config) { c.other = true })
	add("trigger", holder, func(c *config) { c.triggered = true })
	add("destroyed", holder, func(c *config) { c.exists, c.wants = false, false })
	add("moves away", holder, func(c *config) { c.wants = false })
	add("tainted, moves away", tainted, func(c *config) { c.wants = false })
	if group {
		add("replaced without the key", holder, func(c *config) { c.wants, c.replace = false, true })
	}
	return all
}

// scenarios returns every resource and every pair with each role, and triples: of some roles, or of all.
func scenarios(triples bool) (all []scenario) {
	single, group := roles(false), roles(true)
	for i, a := range single {
		all = append(all, scenario{roles: [3]role{a}})
		for _, b := range single[i:] {
			all = append(all, scenario{roles: [3]role{a, b}})
		}
		for _, g := range group {
			all = append(all, scenario{roles: [3]role{a, {}, g}})
		}
	}
	for _, g := range group {
		all = append(all, scenario{roles: [3]role{{}, {}, g}})
	}
	if !triples {
		single, group = some(single), some(group)
	}
	for i, a := range single {
		for _, b := range single[i:] {
			for _, g := range group {
				all = append(all, scenario{roles: [3]role{a, b, g}})
			}
		}
	}
	return all
}

// some returns the roles of the triples. CLAIMS_WALK=all takes all roles, and about an hour.
func some(all []role) []role {
	return slices.DeleteFunc(slices.Clone(all), func(r role) bool {
		return !slices.Contains([]string{
			"created with [b]", "created with late [a]", "gets the key with [b]", "kept with [a]", "kept with [b]", "other change",
			"trigger", "replaced with [b]", "destroyed", "destroyed, keep", "moves away", "tainted, moves away, cbd",
		}, r.name)
	})
}
