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

// Fault is what goes wrong with one request. The zero value is no fault.
//
// A fault acts as a gateway in front of the service. Unless it has Status or ResetBefore, the service handles the
// request and applies an update, and the fault only changes the response. Fields can be combined.
type Fault struct {
	// Delay is a wait before everything else, in addition to Options.Latency. If the client disconnects in the
	// meantime, the wait ends and nothing is applied.
	Delay time.Duration

	// ResetBefore resets the connection and applies nothing.
	ResetBefore bool

	// ResetAfter applies the update and resets the connection without a response.
	ResetAfter bool

	// ResponseDelay is a wait before the response, after the service has handled the request. It ends if the client
	// disconnects in the meantime.
	ResponseDelay time.Duration

	// Truncate sends the header of the response and half of its body, and then ends the connection.
	Truncate bool

	// Status replaces the status of the service. Nothing is applied, unless Apply is set. The body is the specified
	// error body, or for a 2xx the stream.
	Status int

	// Apply makes the service apply the update although Status is set.
	Apply bool

	// Header is set on the response, such as Location or Retry-After. A nil value removes a header.
	Header http.Header

	// Message is the message in the error body for Status. If it is empty, the message names the status.
	Message string

	// Body, unless nil, replaces the body. The status is that of the service, unless Status is set.
	Body *string

	// Edit changes the stream in a success response. It does not change the stream in the service.
	Edit func(*Stream)

	// EditJSON does the same with the JSON object, after Edit. It can remove a field or change its type. Numbers are
	// [json.Number].
	EditJSON func(map[string]any)
}

// response is the response of the service before its fault. Without a stream, it has an error body.
type response struct {
	status  int
	header  http.Header
	stream  *Stream
	message string
}

func errorResponse(status int, format string, args ...any) response {
	return response{status: status, message: fmt.Sprintf(format, args...)}
}

// respond returns the response with the fault's status. It calls handle only if the fault needs the service's own
// response. handle applies an update, or with apply false only returns the stream.
func (f *Fault) respond(handle func(apply bool) response) response {
	if f.Status == 0 {
		return handle(true)
	}
	success := f.Status/100 == 2
	message := f.Message
	if message == "" {
		message = fmt.Sprintf("injected: %d %s", f.Status, http.StatusText(f.Status))
	}
	resp := response{}
	if f.Apply || success {
		resp = handle(f.Apply)
	}
	resp.status = f.Status
	if !success {
		resp.stream, resp.message = nil, message
	}
	return resp
}

// encodeBody returns the body of the response with the fault's changes.
func (f *Fault) encodeBody(resp response) []byte {
	switch {
	case f.Body != nil:
		return []byte(*f.Body)
	case resp.stream == nil:
		return mustMarshal(map[string]string{"message": resp.message})
	}
	stream := *resp.stream
	if f.Edit != nil {
		f.Edit(&stream)
	}
	body := mustMarshal(stream.clone())
	if f.EditJSON != nil {
		object := map[string]any{}
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if err := decoder.Decode(&object); err != nil {
			panic(fmt.Sprintf("streamstest: decoding an encoded stream: %v", err))
		}
		f.EditJSON(object)
		body = mustMarshal(object)
	}
	return body
}

func mustMarshal(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil { // possible only after an EditJSON
		panic(fmt.Sprintf("streamstest: encoding a response: %v", err))
	}
	return body
}

// writeResponse writes the response. With truncate, it declares the length of the body, sends half of it and ends the
// connection.
func writeResponse(w http.ResponseWriter, status int, body []byte, truncate bool) {
	if status == http.StatusNoContent || status == http.StatusNotModified {
		body = nil // HTTP does not allow a body
	} else {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	if !truncate {
		_, _ = w.Write(body) // fails only if the client has disconnected
		return
	}
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush() // or the header would be lost with the connection
	panic(http.ErrAbortHandler)
}

// abortConnection ends the connection without a response. Over HTTP/1.1 it sends a TCP reset; over HTTP/2 the panic
// makes the server reset the stream.
func abortConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn() // closing the TLS connection would send an alert
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// waitUnlessCancelled waits for d, and reports false if ctx ends before.
func waitUnlessCancelled(ctx context.Context, d time.Duration) bool {
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
