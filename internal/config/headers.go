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
	all := r.get("headers")
	headers, authorization = map[string]string{}, scheme{attribute: attribute{isNull: true}}
	if all.isUnknown { // they may have it
		authorization = scheme{all, []attribute{all}, nil}
	}
	names, elements := map[string]string{}, all.elements()
	if text := r.fromEnvironment(all); text != "" {
		var err error
		if elements, err = parseHeaders(text); err != nil {
			r.refuse(all, "%s.", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(elements)) {
		if !all.isNull && elements[name].IsNull() {
			continue
		}
		a, canonical := all.element(all.at.AtMapKey(name)), http.CanonicalHeaderKey(name)
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
		authorization = schemeOf(a, func(attribute) { headers[name] = value })
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
