package streamstest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Fault is what goes wrong with one request, as a gateway in front of the service may do. The zero value is no fault.
// Unless Status or ResetBefore is set, the service handles the request and applies an update, and the fault only changes
// the response. Fields can be combined. A wait ends when the client disconnects.
type Fault struct {
	Delay         time.Duration // a wait before everything else; nothing is applied if the client disconnects meanwhile
	ResetBefore   bool          // resets the connection and applies nothing
	ResetAfter    bool          // applies the update and resets the connection without a response
	ResponseDelay time.Duration // a wait before the response, after the service has handled the request
	Truncate      bool          // ends the connection after half of the response body

	Status   int                  // replaces the status; a status other than 2xx comes with an error body
	Apply    bool                 // applies the update although Status is set
	Message  string               // in the error body for Status, in place of one that names the status
	Header   http.Header          // is set on the response, with canonical names; a nil value removes a header
	Body     *string              // unless nil, replaces the body
	Edit     func(*Stream)        // changes the stream in a success response, not the stream in the service
	EditJSON func(map[string]any) // changes the JSON object in a success response, after Edit
}

// response is the response of the service. Without a stream, it has an error body.
type response struct {
	status  int
	stream  *Stream
	message string
}

func errorResponse(status int, format string, args ...any) response {
	return response{status: status, message: fmt.Sprintf(format, args...)}
}

func injectedMessage(status int) string {
	return fmt.Sprintf("injected: %d %s", status, http.StatusText(status))
}

// respond returns the response with the fault's status. handle returns the service's own response; with apply false, it
// does not apply an update.
func (f *Fault) respond(handle func(apply bool) response) response {
	switch {
	case f.Status == 0:
		return handle(true)
	case f.Status/100 == 2:
		resp := handle(f.Apply)
		resp.status = f.Status
		return resp
	case f.Apply:
		handle(true)
	}
	return errorResponse(f.Status, "%s", cmp.Or(f.Message, injectedMessage(f.Status)))
}

// encodeBody returns the body of the response with the fault's changes.
func (f *Fault) encodeBody(resp response) []byte {
	switch {
	case f.Body != nil:
		return []byte(*f.Body)
	case resp.stream == nil:
		return encodeJSON(map[string]string{"message": resp.message})
	}
	stream := resp.stream.clone()
	if f.Edit != nil {
		f.Edit(&stream)
	}
	body := encodeJSON(stream.clone())
	if f.EditJSON != nil {
		var object map[string]any
		_ = json.Unmarshal(body, &object) // body is an object
		f.EditJSON(object)
		body = encodeJSON(object)
	}
	return body
}

func encodeJSON(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil { // possible only after an EditJSON
		panic(err)
	}
	return body
}

// resetConnection ends the connection without a response. Over HTTP/1.1 it sends a TCP reset; over HTTP/2 the panic
// makes the server reset the stream.
func resetConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
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
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
