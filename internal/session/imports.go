package session

import "github.com/stream-management/terraform-provider-stream/internal/claims"

// This file has how long an object counts as imported: until an apply has written the state. Nobody has confirmed its id before.
//
// An import block is planned in the session that imports. `terraform import` only writes the state, and each later refresh of it begins a
// session whose plan counts. If no apply has written the state of that refresh, the next session finds the mark again.

// Imported returns the marks of an object that this session imports. With plansLater, other sessions plan it.
func (s *Session) Imported(plansLater bool) Marks {
	return Marks{All: MarkOfAll{Import: s.id, PlansLater: plansLater}}
}

// refreshImport is what a refresh does with the mark of an import. It reports whether no read since the import has
// returned a stream.
func (s *Session) refreshImport(m *Marks) (ofImport bool) {
	switch {
	case m.All.Import == s.id:
		return m.All.ReadAt == ""
	case m.All.PlansLater:
		m.All.Import, m.All.PlansLater = s.id, false
	default:
		m.All.Import = ""
	}
	return false
}

// importOf returns whether a change leaves the streams of an import. A destroy of an imported object follows its on_destroy.
func (s *Session) importOf(c Change) claims.Import {
	switch all := c.Marks.All; {
	case all.Import == "", c.Kind == Destroy && !all.OfCreate && !c.leaving.IsOfOldObject():
		return claims.NotImported
	case all.Import == s.id, all.PlansLater, c.Kind == Destroy:
		return claims.Imported
	case c.Group: // Terraform plans an update again in the apply, and does not tell this plan from that of a later run without a refresh
		return claims.MayBeImported
	}
	return claims.NotImported
}
