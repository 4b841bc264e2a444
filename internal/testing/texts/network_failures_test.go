package texts_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
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
	return slices.Concat(
		in("refused", reaches(refuse), "create", "destroy", "read", "group", "drop", "destroy group"),
		in("no such host", addressed("https://stream.example.com", func(*world) {}), "create"),
		in("no connection", reaches(vanish), "update"),
		in("no response", serves(silent), "create", "destroy"),
		[]failure{{title: "group: no response", does: updateGroup(2), fails: serves(silent)}}, // a third stream would wait for the first two
		in("reset before", fault(streamstest.Fault{ResetBefore: true}), "update"),
		in("closed without a response", overHTTP1(writes("")), "update"),
		in("no HTTP", overHTTP1(writes("SSH-2.0-OpenSSH_9.6\r\n")), "update"),
		in("https:// and a plain port", func(w *world) {
			w.hosts[serviceHost+":443"] = w.serve(func(http.ResponseWriter, *http.Request) {})
		}, "create"),
		in("http:// and a port of TLS", addressed("http://"+serviceHost+":443", func(*world) {}), "create"),
	)
}

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
		in("unknown authority", system, "create"),
		in("a missing intermediate certificate", serving(func(w *world) *tls.Config {
			return w.configOf(w.authority.NewIntermediate(w).Issue(w, serviceHost))
		}), "update"),
		in("wrong name", serving(func(w *world) *tls.Config { return w.certificate("other.example.com", "192.0.2.7") }), "create"),
		in("expired", serving(func(w *world) *tls.Config { return w.configOf(w.authority.IssueExpired(w, serviceHost)) }), "update"),
		in("an old version of TLS", serving(func(w *world) *tls.Config {
			config := w.certificate(serviceHost)
			config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
			return config
		}), "update"),
		in("a host that is not served", serving(func(w *world) *tls.Config {
			return &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, io.EOF }}
		}), "update"),
		in("client certificate required", asking(tls.VersionTLS13), "create"),
		in("another client certificate required", func(w *world) {
			w.identify(streamstest.NewAuthority(w).Issue(w, "terraform"))
			asking(tls.VersionTLS13)(w)
		}, "update"),
		in("an expired client certificate", func(w *world) {
			w.identify(w.authority.IssueExpired(w, "terraform"))
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
	withProxy("proxy down", address, func(*world) dialer { return refuse }, "create")
	withProxy("407 with NTLM", address, refusing(407, "Proxy-Authenticate", "Negotiate", "Proxy-Authenticate", "NTLM"), "create")
	withProxy("403 of a proxy", address, refusing(403), "create")
	withProxy("proxy is no proxy", address, func(w *world) dialer { return w.serve(writes("SSH-2.0-OpenSSH_9.6\r\n")) }, "create")
	plain := in("407 of a plain request", func(w *world) {
		w.configure(coretest.Attributes{"base_url": "http://" + serviceHost})
		w.hosts[proxyHost+":3128"] = w.serve(response(407, html, "Access denied", "Proxy-Authenticate", "Negotiate", "Proxy-Authenticate",
			"NTLM"))
	}, "create")
	plain[0].env = map[string]string{"HTTPS_PROXY": address, "HTTP_PROXY": address}
	return append(all, plain...)
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
		"token_url": "https://" + tokenHost +
			"/oauth2/token", "client_id": "terraform", "client_secret": "s3cret-of-terraform", "scopes": []string{"streams.write"},
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
	ofClient := func(others coretest.Attributes, then func(*world)) func(*world) {
		return func(w *world) {
			then(w)
			changed := maps.Clone(client)
			maps.Copy(changed, others)
			w.configure(coretest.Attributes{"oauth2": changed})
		}
	}
	fromEnvironment := in("token endpoint: a secret from the environment is refused",
		ofClient(coretest.Attributes{"client_secret": nil}, refuses(401, "invalid_client", "Bad client credentials")), "create")
	fromEnvironment[0].env = map[string]string{"STREAM_OAUTH2_CLIENT_SECRET": "s3cret-of-terraform"}
	asserted := in("token endpoint: an assertion is refused", ofClient(coretest.Attributes{"client_secret": nil,
		"client_assertion": "eyJhbGciOiJFUzI1NiJ9"},
		refuses(400, "invalid_client", "The assertion has expired")), "create")
	ofService := func(status int, message string) func(*world) {
		return func(w *world) {
			w.configure(coretest.Attributes{"token": nil, "oauth2": client})
			says(status, message)(w)
		}
	}
	return slices.Concat(asserted, fromEnvironment,
		in("token endpoint: invalid_client", refuses(400, "invalid_client", "Unknown client terraform"), "group"),
		in("token endpoint: invalid_scope", refuses(400, "invalid_scope", "The scope streams.write is not defined"), "create"),
		in("token endpoint: 404, page", gives(404, html, "<html><h1>Not Found</h1></html>"), "create"),
		in("token endpoint: 429", refuses(429, "too_many_requests", "Global limit has been reached"), "create"),
		in("token endpoint: 503, tomorrow", gives(503, html, "<html><h1>Maintenance</h1></html>", "Retry-After", "86400"), "create"),
		in("token endpoint: login page", gives(200, html, loginPage), "create"),
		in("token endpoint: no token", gives(200, json_, `{"token_type":"Bearer","expires_in":3600}`), "create"),
		in("token endpoint: error with 200", gives(200, json_, `{"error":"invalid_client","error_description":"Unknown client"}`), "create"),
		in("token endpoint: redirect", gives(302, html, "", "Location", "https://login.example.com/signin"), "create"),
		in("token endpoint: refused", with(func(*world) dialer { return refuse }), "create"),
		in("token endpoint: wrong name", with(func(w *world) dialer {
			return w.serveTLS(w.certificate("other.example.com"),
				response(200, "", ""))
		}), "create"),
		in("the service refuses the token of oauth2", ofService(401, "The audience is wrong."), "create"),
		in("the service forbids with the token of oauth2", ofService(403, "The scope streams.write is missing."), "create"),
	)
}
