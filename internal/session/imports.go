package session

import "github.com/stream-management/terraform-provider-stream/internal/claims"

// This file has how long an object counts as imported: until an apply has written the state. Nobody has confirmed its id before.
//
// An import block is planned in the session that imports. `terraform import` only writes the state, and each later refresh of it begins a
// session whose plan counts. If no apply has written the state of that refresh, the next session finds the mark again.

// Imported returns the marks of an object that this session imports, perhaps by the command.
func (s *Session) Imported(byCommand bool) Marks {
	return Marks{All: MarkOfAll{Import: ImportMark{s.id, byCommand}}}
}

// refreshed returns the mark of an import after a refresh.
func (s *Session) refreshed(m ImportMark) ImportMark {
	switch {
	case m.Session == s.id: // the read of the import
		return m
	case m.ByCommand:
		return ImportMark{Session: s.id}
	}
	return ImportMark{}
}

// importOf returns whether a change leaves the streams of an import. A destroy of an imported object follows its on_destroy.
func (s *Session) importOf(c Change) claims.Import {
	switch m := c.Marks.All.Import; {
	case m == ImportMark{}, c.Kind == Destroy && !c.Marks.All.OfCreate && !c.leaving.IsOfOldObject():
		return claims.NotImported
	case m.Session == s.id, m.ByCommand, c.Kind == Destroy:
		return claims.Imported
	case c.Group: // Terraform plans an update again in the apply, and does not tell this plan from that of a later run without a refresh
		return claims.MayBeImported
	}
	return claims.NotImported
}
