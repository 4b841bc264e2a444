package requests

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// noAccessToken is the error of a success in JSON without a token. Its fields may have another one, so only their names are shown.
type noAccessToken struct{ names []string }

func (e *noAccessToken) Error() string {
	switch {
	case len(e.names) == 0:
		return "access_token is missing, and so is every other field"
	case slices.Contains(e.names, "access_token"):
		return "access_token is empty"
	}
	return "access_token is missing; there is only " + strings.Join(e.names, ", ")
}

// rewriteToken writes the fields that package oauth2 reads. It leaves out what a token can be used without.
func rewriteToken(fields map[string]json.RawMessage) ([]byte, error) {
	rewritten := map[string]any{"expires_in": parseSeconds(fields["expires_in"])}
	for _, name := range []string{"access_token", "refresh_token", "id_token", "error", "error_description"} {
		var text *string
		raw, found := fields[name]
		switch err := json.Unmarshal(raw, &text); {
		case err == nil && text != nil:
			rewritten[name] = *text
		case err != nil && found && name == "access_token":
			return nil, fmt.Errorf("%s is not a string", name)
		}
	}
	has := func(name string) bool { return rewritten[name] != nil && rewritten[name] != "" }
	if !has("access_token") && !has("error") {
		return nil, &noAccessToken{slices.Sorted(maps.Keys(fields))}
	}
	return json.Marshal(rewritten)
}

// parseSeconds reads expires_in: a number in any form, also in a text. 0 means that the end is not known.
func parseSeconds(raw json.RawMessage) int64 {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	var seconds float64
	if json.Unmarshal([]byte(strings.TrimSpace(text)), &seconds) != nil {
		return 0
	}
	return int64(max(0, min(seconds, math.MaxInt32)))
}
