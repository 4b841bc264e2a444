package config

import "github.com/stream-management/terraform-provider-stream/internal/transport"

// checkProxies refuses the variables of a proxy that cannot be right: package httpproxy ignores an address that it cannot parse, and
// requests would go past the proxy. NO_PROXY may have any text: other programs read it, too.
func (r *reader) checkProxies() {
	for _, variables := range [][]string{{"HTTPS_PROXY", "https_proxy"}, {"HTTP_PROXY", "http_proxy"}} {
		proxy := attribute{isNull: true, variables: variables}
		text := r.checked(proxy, r.fromEnvironment(proxy))
		if _, err := transport.ParseProxy(text); text != "" && err != nil {
			r.refuse(proxy, "%s.", err)
		}
	}
	r.fromEnvironment(attribute{isNull: true, variables: []string{"NO_PROXY", "no_proxy"}})
}
