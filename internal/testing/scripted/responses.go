package scripted

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Respond sends a status, a body and pairs of header name and value.
func Respond(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// RespondError sends the documented error body.
func RespondError(status int, message string, header ...string) http.HandlerFunc {
	return Respond(status, ToJSON(map[string]string{"message": message}), header...)
}

// ApplyUpdate responds with a stream that has the processors of the request; for a read, none.
func ApplyUpdate(w http.ResponseWriter, r *http.Request) {
	var update struct {
		IDs []string `json:"processor_ids"`
	}
	_ = json.NewDecoder(r.Body).Decode(&update)
	path := r.URL.EscapedPath()
	id, _ := url.PathUnescape(path[strings.LastIndex(path, "/")+1:])
	Respond(http.StatusOK, StreamJSON(id, update.IDs))(w, r)
}

// RespondAfter responds after a time, unless the client gives up before.
func RespondAfter(d time.Duration, response http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(d):
			response(w, r)
		case <-r.Context().Done():
		}
	}
}

// ResetConnection ends the connection in place of a response.
func ResetConnection(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// RespondTruncated sends less than the Content-Length and then ends the connection.
func RespondTruncated(status int) http.HandlerFunc {
	return RespondRaw(fmt.Sprintf("HTTP/1.1 %d cut\r\nContent-Length: 1000\r\n\r\n{", status))
}

// RespondRaw sends bytes that need not be HTTP.
func RespondRaw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
	}
}

// NeverRespond waits until the client gives up.
func NeverRespond(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// StreamJSON returns a valid stream with these processors.
func StreamJSON(id string, processors []string) string {
	return StreamWith(map[string]string{"id": ToJSON(id), "processor_ids": ToJSON(append([]string{}, processors...))})
}

// ToJSON returns a value in JSON.
func ToJSON(value any) string {
	encoded, _ := json.Marshal(value)
	return string(encoded)
}

// IssueTokens issues token-1, token-2 and so on.
func IssueTokens(expiresIn int) http.HandlerFunc {
	issued := 0
	return func(w http.ResponseWriter, r *http.Request) {
		issued++
		Respond(200, fmt.Sprintf(`{"access_token":"token-%d","expires_in":%d}`, issued, expiresIn))(w, r)
	}
}

// StreamWith returns a valid stream with some fields replaced.
func StreamWith(replace map[string]string) string {
	fields := map[string]json.RawMessage{
		"id": []byte(`"s1"`), "terminal_id": []byte(`"t1"`), "fragment_type_id": []byte(`"image/jpg"`), "processor_ids": []byte(`["p1"]`),
		"last_edited": []byte("1718000000000"), "compatible_namespaces": []byte(`["ns2","ns1","ns2"]`),
	}
	for name, value := range replace {
		fields[name] = []byte(value)
	}
	return ToJSON(fields)
}
