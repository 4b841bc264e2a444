package texts_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/testing/streamstest"
)

// serves makes a handler respond in place of the service.
func serves(handler http.HandlerFunc) func(*world) {
	return func(w *world) { w.handler.Store(handler) }
}

// responds makes the service give one response. The headers are pairs of name and value.
func responds(status int, contentType, body string, header ...string) func(*world) {
	return serves(response(status, contentType, body, header...))
}

func response(status int, contentType, body string, header ...string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		if contentType != "" {
			rw.Header().Set("Content-Type", contentType)
		}
		for pair := range slices.Chunk(header, 2) {
			rw.Header().Add(pair[0], pair[1])
		}
		rw.WriteHeader(status)
		_, _ = io.WriteString(rw, body)
	}
}

// The forms of a response.
const (
	json_     = "application/json"
	html      = "text/html; charset=utf-8"
	plain     = "text/plain; charset=utf-8"
	loginPage = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Sign in to Example</h1><form></form></body></html>"
)

// says is the error body of the interface.
func says(status int, message string, header ...string) func(*world) {
	return responds(status, json_, messageBody(message), header...)
}

func messageBody(message string) string {
	body, _ := json.Marshal(map[string]string{"message": message})
	return string(body)
}

func page(status int) func(*world) {
	title := fmt.Sprintf("%d %s", status, http.StatusText(status))
	return responds(status, html, "<html>\r\n<head><title>"+title+"</title></head>\r\n<body>\r\n"+
		"<center><h1>"+title+"</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n")
}

func text(status int, body string) func(*world) { return responds(status, plain, body) }

func none(status int) func(*world) { return responds(status, "", "") }

func otherJSON(status int, detail string) func(*world) {
	return responds(status, json_, fmt.Sprintf(`{"detail":%q}`, detail))
}

// edits changes the JSON object of a success.
func edits(change func(map[string]any)) func(*world) {
	return func(w *world) {
		w.service.InjectFunc(func(streamstest.Request) *streamstest.Fault { return &streamstest.Fault{EditJSON: change} })
	}
}

// set gives fields of a success other values.
func set(fields map[string]any) func(*world) {
	return edits(func(stream map[string]any) { maps.Copy(stream, fields) })
}

// fault makes each response of the service one with a fault.
func fault(f streamstest.Fault) func(*world) {
	return func(w *world) { w.service.InjectFunc(func(streamstest.Request) *streamstest.Fault { return &f }) }
}

// options changes the service.
func options(change func(*streamstest.Options)) func(*world) {
	return func(w *world) { w.service.Configure(change) }
}

// byStream lets streams fail each in its own way; the others work.
func byStream(failing map[string]http.HandlerFunc) func(*world) {
	return func(w *world) {
		w.handler.Store(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			handler, ok := failing[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]]
			if !ok {
				handler = w.service.ServeHTTP
			}
			handler(rw, r)
		}))
	}
}

// each lets n streams fail. The response depends on the number of the stream, from 0 on.
func each(n int, respond func(i int) http.HandlerFunc) func(*world) {
	failing := map[string]http.HandlerFunc{}
	for i, id := range cameras(n) {
		failing[id] = respond(i)
	}
	return byStream(failing)
}

func unknownProcessor(i int) http.HandlerFunc {
	return response(400, json_, messageBody("processor p"+strconv.Itoa(i)+" is not one of the account "+strconv.Itoa(4711+i)))
}

func noStream(int) http.HandlerFunc {
	return response(404, json_, messageBody("There is no such stream."))
}

func unavailable(int) http.HandlerFunc {
	return response(503, json_, messageBody("The service is being updated."), "X-Request-Id", "9f2c1e70")
}

func silent(rw http.ResponseWriter, r *http.Request) {
	_, _ = io.ReadAll(r.Body) // else the end of the connection is not noticed
	<-r.Context().Done()
}

// overHTTP1 replaces the service by one that speaks only HTTP/1.1, where a handler can write what is no HTTP.
func overHTTP1(handler http.HandlerFunc) func(*world) {
	return func(w *world) {
		s := w.newServer(handler)
		s.EnableHTTP2, s.TLS = false, w.certificate(serviceHost)
		s.StartTLS()
		w.hosts[serviceHost+":443"] = w.dialerOf(s)
	}
}

// writes sends bytes in place of a response, and ends the connection.
func writes(raw string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		conn, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, raw)
		_ = conn.Close()
	}
}
