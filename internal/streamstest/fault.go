package streamstest

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Fault says what goes wrong with one request. The zero value: nothing.
//
// A fault acts in front of the service, as a gateway does. Unless it has a Status or ResetBefore, the service handles
// the request as ever (an update is applied) and the fault only spoils the answer. Fields combine.
type Fault struct {
	// Delay passes before anything else, on top of Options.Latency. It ends when the client leaves: then nothing is
	// applied.
	Delay time.Duration

	// ResetBefore cuts the connection with nothing applied.
	ResetBefore bool

	// ResetAfter applies the update and cuts the connection without an answer.
	ResetAfter bool

	// Truncate sends the header of the whole answer but only half of its body, then cuts the connection.
	Truncate bool

	// Status is answered instead of the service's own. Nothing is applied, unless Apply is set. The body is the
	// documented error body; for a 2xx it is the stream, applied or not.
	Status int

	// Apply lets the service apply the update although Status is set.
	Apply bool

	// Header is set on the answer (Location, Retry-After, Content-Type). A nil value removes a header.
	Header http.Header

	// Message is the message of the error body that goes with Status; empty: a text that names the status.
	Message string

	// Body, unless nil, is answered as it is, in place of any other body. With Status 0, the status stays the
	// service's own.
	Body *string

	// Edit changes the stream that is answered on success, not the stream that is held.
	Edit func(*Stream)

	// EditJSON does the same to the JSON object, to delete a field or change its type. Numbers are [json.Number]. It
	// runs after Edit.
	EditJSON func(map[string]any)
}

// answer is what the service means to send: an error body if stream is nil.
type answer struct {
	status  int
	header  http.Header
	stream  *Stream
	message string
}

func refuse(status int, format string, args ...any) answer {
	return answer{status: status, message: fmt.Sprintf(format, args...)}
}

// pick returns the answer under the fault. The service's own comes from handle, which applies an update or only says
// what the stream is now; it is not asked when its answer cannot matter.
func (f *Fault) pick(handle func(apply bool) answer) answer {
	if f.Status == 0 {
		return handle(true)
	}
	success := f.Status/100 == 2
	message := f.Message
	if message == "" {
		message = fmt.Sprintf("injected: %d %s", f.Status, http.StatusText(f.Status))
	}
	a := answer{}
	if f.Apply || success {
		a = handle(f.Apply)
	}
	a.status = f.Status
	if !success {
		a.stream, a.message = nil, message
	}
	return a
}

// body returns the encoded body of the answer under the fault.
func (f *Fault) body(a answer) []byte {
	switch {
	case f.Body != nil:
		return []byte(*f.Body)
	case a.stream == nil:
		return encode(map[string]string{"message": a.message})
	}
	stream := *a.stream
	if f.Edit != nil {
		f.Edit(&stream)
	}
	body := encode(stream.clone())
	if f.EditJSON != nil {
		object := map[string]any{}
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if err := decoder.Decode(&object); err != nil {
			panic(fmt.Sprintf("streamstest: decoding a stream just encoded: %v", err))
		}
		f.EditJSON(object)
		body = encode(object)
	}
	return body
}

func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil { // only an EditJSON can put in what JSON cannot hold
		panic(fmt.Sprintf("streamstest: encoding an answer: %v", err))
	}
	return body
}

// send writes an answer; truncated, it declares the whole body but sends half of it and cuts the connection.
func send(w http.ResponseWriter, status int, body []byte, truncate bool) {
	if status == http.StatusNoContent || status == http.StatusNotModified {
		body = nil // HTTP forbids one
	} else {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	if !truncate {
		_, _ = w.Write(body) // fails only if the client has left
		return
	}
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush() // or the cut would take the header with it
	panic(http.ErrAbortHandler)
}

// cut ends the connection with no answer: by a TCP reset where it is the request's own, else by resetting the HTTP/2
// stream, which is what the panic means to the server.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn() // past TLS, whose Close says goodbye
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// wait passes the time and reports whether the client is still there.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
