package config

import (
	"net/url"

	"github.com/stream-management/terraform-provider-stream/internal/requests"
	"github.com/stream-management/terraform-provider-stream/internal/transport"
)

// checkProxies refuses the variables of a proxy that requests need, if they cannot be right: package httpproxy ignores an address
// that it cannot parse, and requests would go past the proxy. NO_PROXY may have any text: other programs read it, too.
func (r *reader) checkProxies(c requests.Config) {
	addresses := []string{c.BaseURL}
	if c.OAuth2 != nil {
		addresses = append(addresses, c.OAuth2.TokenURL)
	}
	variables := map[string][]string{"https": {"HTTPS_PROXY", "https_proxy"}, "http": {"HTTP_PROXY", "http_proxy"}}
	for _, address := range addresses {
		u, err := url.Parse(address)
		hosts := attribute{isNull: true, variables: []string{"NO_PROXY", "no_proxy"}}
		if _, noProxy := r.variable(hosts); err != nil || !transport.MayBeProxied(u, noProxy) {
			continue
		}
		proxy := attribute{isNull: true, variables: variables[u.Scheme]}
		if _, set := r.variable(proxy); set == "" {
			continue
		}
		r.fromEnvironment(hosts)
		text := r.checked(proxy, r.fromEnvironment(proxy))
		if _, err := transport.ParseProxy(text); text != "" && err != nil {
			r.refuse(proxy, "%s.", err)
		}
	}
}
