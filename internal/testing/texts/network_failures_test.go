package texts_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/stream-management/terraform-provider-stream/internal/testing/coretest"
	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// reaches makes a dialer that of the service.
func reaches(connect dialer) func(*world) {
	return func(w *world) { w.hosts[serviceHost+":443"] = connect }
}

// addressed configures another address of the service.
func addressed(base string, then func(*world)) func(*world) {
	return func(w *world) {
		w.configure(coretest.Attributes{"base_url": base})
		then(w)
	}
}

// networks are services that cannot be reached, or do not answer.
func networks() []failure {
	inClear := func(handler http.HandlerFunc) func(*world) {
		return func(w *world) { w.hosts[serviceHost+":8080"] = w.serve(handler) }
	}
	return slices.Concat(
		in("refused", reaches(refuse), "create", "update", "destroy", "read", "group"),
		in("no such host", addressed("https://stream.example.com", func(*world) {}), "create"),
		in("no connection", reaches(vanish), "create", "update", "group"),
		in("no response", serves(silent), "create", "update", "destroy", "read", "group"),
		in("no response in a second", func(w *world) {
			w.configure(coretest.Attributes{"request_timeout": "1s"})
			serves(silent)(w)
		}, "update"),
		in("reset before", fault(streamstest.Fault{ResetBefore: true}), "create", "update", "destroy"),
		in("closed without a response", overHTTP1(writes("")), "create", "update", "destroy", "group"),
		in("no HTTP", overHTTP1(writes("SSH-2.0-OpenSSH_9.6\r\n")), "update"),
		in("a head that is too long", responds(200, json_, "{}", "X-Long", string(make([]byte, 0))+repeated("a", 300<<10)), "update"),
		in("https:// and a plain port", func(w *world) {
			w.hosts[serviceHost+":443"] = w.serve(func(http.ResponseWriter, *http.Request) {})
		}, "create", "update"),
		in("http:// and a port of TLS", addressed("http://"+serviceHost+":443", func(*world) {}), "create"),
		in("http:// and a port that closes", addressed("http://"+serviceHost+":8080", inClear(writes(""))), "create"),
		in("http:// and HTTP/2", addressed("http://"+serviceHost+":8080", inClear(writes("\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64\x00\x04\x00\x10\x00\x00\x00\x06\x00\x00\x40\x00"))), "create"),
		in("http:// and a redirect", addressed("http://"+serviceHost+":8080", inClear(response(301, html, "", "Location", baseURL+"/v2/streams/cam-01"))), "create"),
		in("http:// and wrong token", addressed("http://"+serviceHost+":8080", inClear(response(401, json_, messageBody("The token is not valid.")))), "create"),
	)
}

func repeated(s string, n int) string { return fmt.Sprintf("%s%0*d", s, n, 0) }

func certificates() []failure {
	serving := func(config func(*world) *tls.Config) func(*world) {
		return func(w *world) { w.hosts[serviceHost+":443"] = w.serveTLS(config(w), w.service.ServeHTTP) }
	}
	system := func(w *world) { w.configure(coretest.Attributes{"tls": nil}) }
	asking := func(version uint16) func(*world) {
		return serving(func(w *world) *tls.Config {
			config := w.certificate(serviceHost)
			config.ClientAuth, config.ClientCAs, config.MaxVersion = tls.RequireAndVerifyClientCert, x509.NewCertPool(), version
			return config
		})
	}
	return slices.Concat(
		in("unknown authority", system, "create", "update", "destroy", "read", "group"),
		in("an authority that is not in ca_cert_pem", serving(func(w *world) *tls.Config {
			return w.configOf(streamstest.NewAuthority(w).Issue(w, serviceHost))
		}), "update"),
		in("a missing intermediate certificate", serving(func(w *world) *tls.Config {
			return w.configOf(w.authority.NewIntermediate(w).Issue(w, serviceHost))
		}), "update"),
		in("wrong name", serving(func(w *world) *tls.Config { return w.certificate("other.example.com", "192.0.2.7") }), "create", "update", "destroy"),
		in("expired", serving(func(w *world) *tls.Config { return w.configOf(w.authority.IssueExpired(w, serviceHost)) }), "create", "update", "destroy"),
		in("an old version of TLS", serving(func(w *world) *tls.Config {
			config := w.certificate(serviceHost)
			config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
			return config
		}), "update"),
		in("a host that is not served", serving(func(w *world) *tls.Config {
			return &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, io.EOF }}
		}), "update"),
		in("client certificate required", asking(tls.VersionTLS13), "create", "update", "destroy", "group"),
		in("client certificate required, TLS 1.2", asking(tls.VersionTLS12), "update"),
		in("another client certificate required", func(w *world) {
			pair := streamstest.NewAuthority(w).Issue(w, "terraform")
			w.configure(coretest.Attributes{"tls": coretest.Attributes{
				"ca_cert_pem": w.authority.CertPEM, "client_cert_pem": pair.CertPEM, "client_key_pem": pair.KeyPEM,
			}})
			asking(tls.VersionTLS13)(w)
		}, "update"),
	)
}

// proxies stand between.
func proxies() (all []failure) {
	const address = "http://alice:s3cret-of-alice@" + proxyHost + ":3128"
	withProxy := func(title, address string, connect func(*world) dialer, operations ...string) {
		for _, f := range in(title, func(w *world) {
			delete(w.hosts, proxyHost+":3128")
			if connect != nil {
				w.hosts[proxyHost+":3128"] = connect(w)
			}
		}, operations...) {
			f.env = map[string]string{"HTTPS_PROXY": address, "HTTP_PROXY": address}
			f.does = afterwards(f.does)
			all = append(all, f)
		}
	}
	refusing := func(status int, header ...string) func(*world) dialer {
		return func(w *world) dialer { return w.serve(response(status, html, "", header...)) }
	}
	withProxy("proxy down", address, func(*world) dialer { return refuse }, "create", "update", "destroy", "group")
	withProxy("proxy unknown", address, nil, "create")
	withProxy("proxy silent", address, func(*world) dialer { return vanish }, "create")
	withProxy("407 with Basic", address, refusing(407, "Proxy-Authenticate", `Basic realm="proxy"`), "create", "update")
	withProxy("407 with NTLM", address, refusing(407, "Proxy-Authenticate", "Negotiate", "Proxy-Authenticate", "NTLM"), "create", "update")
	withProxy("407 without a challenge", address, refusing(407), "create")
	withProxy("403 of a proxy", address, refusing(403), "create")
	withProxy("502 of a proxy", address, refusing(502), "create")
	withProxy("proxy of TLS", "https://"+proxyHost+":3128", func(w *world) dialer {
		return w.serveTLS(w.configOf(streamstest.NewAuthority(w).Issue(w, proxyHost)), response(200, "", ""))
	}, "create")
	withProxy("proxy is no proxy", address, func(w *world) dialer { return w.serve(writes("SSH-2.0-OpenSSH_9.6\r\n")) }, "create")
	for _, f := range []failure{
		{title: "create: 407 of a plain request", does: create, fails: func(w *world) {
			w.configure(coretest.Attributes{"base_url": "http://" + serviceHost})
			w.hosts[proxyHost+":3128"] = w.serve(response(407, html, "Access denied", "Proxy-Authenticate", "Negotiate", "Proxy-Authenticate", "NTLM"))
		}},
		{title: "create: 503 of a proxy, plain", does: create, fails: func(w *world) {
			w.configure(coretest.Attributes{"base_url": "http://" + serviceHost})
			w.hosts[proxyHost+":3128"] = w.serve(response(503, html, "<html>The host cannot be reached</html>", "Via", "1.1 squid"))
		}},
	} {
		f.env = map[string]string{"HTTPS_PROXY": address, "HTTP_PROXY": address}
		all = append(all, f)
	}
	return all
}

// afterwards lets everything go through a proxy that works until the failure begins.
func afterwards(does operation) operation {
	return func(w *world) coretest.Diagnostics {
		w.hosts[proxyHost+":3128"] = w.serve(w.tunnel)
		return does(w)
	}
}

// tunnel is a proxy that works.
func (w *world) tunnel(rw http.ResponseWriter, r *http.Request) {
	far, err := w.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		rw.WriteHeader(502)
		return
	}
	near, _, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
	go forward(far, near)
	go forward(near, far)
}

// tokenEndpoints refuse or fail.
func tokenEndpoints() []failure {
	client := coretest.Attributes{
		"token_url": "https://" + tokenHost + "/oauth2/token", "client_id": "terraform", "client_secret": "s3cret-of-terraform", "scopes": []string{"streams.write"},
	}
	with := func(connect func(*world) dialer) func(*world) {
		return func(w *world) {
			w.configure(coretest.Attributes{"token": nil, "oauth2": client})
			w.hosts[tokenHost+":443"] = connect(w)
		}
	}
	gives := func(status int, contentType, body string, header ...string) func(*world) {
		return with(func(w *world) dialer {
			return w.serveTLS(w.certificate(tokenHost), response(status, contentType, body, header...))
		})
	}
	refuses := func(status int, code, why string) func(*world) {
		return gives(status, json_, fmt.Sprintf(`{"error":%q,"error_description":%q}`, code, why))
	}
	return slices.Concat(
		in("token endpoint: invalid_client", refuses(400, "invalid_client", "Unknown client terraform"), "create", "group"),
		in("token endpoint: 401 invalid_client", refuses(401, "invalid_client", "Bad client credentials"), "create", "update", "read"),
		in("token endpoint: invalid_scope", refuses(400, "invalid_scope", "The scope streams.write is not defined"), "create"),
		in("token endpoint: secret in the body, invalid_scope", with(func(w *world) dialer {
			return w.serveTLS(w.certificate(tokenHost), func(rw http.ResponseWriter, r *http.Request) {
				respond := response(400, json_, `{"error":"invalid_scope"}`)
				if _, _, inHeader := r.BasicAuth(); inHeader {
					respond = response(401, json_, `{"error":"invalid_client"}`)
				}
				respond(rw, r)
			})
		}), "create"),
		in("token endpoint: 401 about the audience", refuses(401, "access_denied", "Service not enabled within domain: streams"), "create"),
		in("token endpoint: unauthorized_client", refuses(400, "unauthorized_client", "Grant type 'client_credentials' not allowed for the client."), "create"),
		in("token endpoint: 403", refuses(403, "access_denied", "Client is not authorized to access the audience"), "create"),
		in("token endpoint: 404, page", gives(404, html, "<html><h1>Not Found</h1></html>"), "create"),
		in("token endpoint: 405", gives(405, "", ""), "create"),
		in("token endpoint: 429", refuses(429, "too_many_requests", "Global limit has been reached"), "create"),
		in("token endpoint: 500", refuses(500, "server_error", "Unexpected"), "create", "group"),
		in("token endpoint: 503, page", gives(503, html, "<html><h1>Service Unavailable</h1></html>"), "create"),
		in("token endpoint: login page", gives(200, html, loginPage), "create"),
		in("token endpoint: no token", gives(200, json_, `{"token_type":"Bearer","expires_in":3600}`), "create"),
		in("token endpoint: error with 200", gives(200, json_, `{"error":"invalid_client","error_description":"Unknown client"}`), "create"),
		in("token endpoint: redirect", gives(302, html, "", "Location", "https://login.example.com/signin"), "create"),
		in("token endpoint: refused", with(func(*world) dialer { return refuse }), "create"),
		in("token endpoint: silent", with(func(w *world) dialer { return w.serveTLS(w.certificate(tokenHost), silent) }), "create"),
		in("token endpoint: wrong name", with(func(w *world) dialer { return w.serveTLS(w.certificate("other.example.com"), response(200, "", "")) }), "create"),
		in("the service refuses the token of oauth2", func(w *world) {
			w.configure(coretest.Attributes{"token": nil, "oauth2": client})
			says(401, "The token is not valid.")(w)
		}, "create"),
	)
}
