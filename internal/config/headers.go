package config

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
)

// headers returns the headers. Authorization is a scheme, whose read adds it. In the provider block, a null is no header.
func (r *reader) headers() (headers map[string]string, authorization scheme) {
	headers, authorization = map[string]string{}, scheme{setting: attribute{isNull: true}}
	if r.Headers.isUnknown { // they may have it
		authorization = scheme{r.Headers, []setting{r.Headers}, nil}
	}
	names, elements := map[string]string{}, r.Headers.inBlock.Elements()
	if text := r.fromEnvironment(r.Headers); text != "" {
		var err error
		if elements, err = parseHeaders(text); err != nil {
			r.refuse(r.Headers, "%s.", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(elements)) {
		if !r.Headers.isNull && elements[name].IsNull() {
			continue
		}
		a, canonical := r.Headers.element(r.Headers.at.AtMapKey(name)), http.CanonicalHeaderKey(name)
		value := r.element(a, elements[name])
		if err := requests.CheckHeader(name); err != nil {
			r.refuse(a, "%s.", err)
		} else if names[canonical] != "" {
			r.refuse(a, "is the same header as %q.", names[canonical])
		}
		if names[canonical] = name; canonical != "Authorization" {
			headers[name] = value
			continue
		}
		a.isUnknown = elements[name].IsUnknown()
		authorization = scheme{a, []setting{a}, func() { headers[name] = value }}
	}
	return headers, authorization
}

// parseHeaders reads a JSON object of texts. Its errors do not quote the values, which are secret.
func parseHeaders(text string) (map[string]attr.Value, error) {
	var values map[string]*string
	if json.Unmarshal([]byte(text), &values) != nil || values == nil {
		return nil, errors.New(`must be a JSON object of texts, such as {"X-Api-Key": "…"}`)
	}
	headers := map[string]attr.Value{}
	for name, value := range values {
		headers[name] = types.StringPointerValue(value)
	}
	return headers, nil
}
