package report

import (
	"strings"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
	"github.com/stream-management/terraform-provider-stream/internal/requests"
)

// placeholders returns what stands for the placeholders of the hint for a failure, beside those of a [text].
func placeholders(f failure) *strings.Replacer {
	receiver, address := receiverOf(f)
	unused := ""
	if f.Unused != "" {
		unused = Sentence(f.Unused)
	}
	return strings.NewReplacer(
		"{receiver}", receiver,
		"{address}", address,
		"{method}", f.Method,
		"{unused}", unused,
		"{proxy}", standIn(f),
		"{otherwise}", otherwise(f, address),
		"{orRaise}", orRaise(f),
		"{toLeave}", f.did.toLeave,
		"{orKeep}", f.did.orKeep,
		"{orReads}", orReads(f),
		"{unserved}", f.did.unserved,
		"{missing}", f.did.missing,
	)
}

// receiverOf names what the request was sent to, and the setting with its address.
func receiverOf(f failure) (receiver, address string) {
	switch {
	case throughProxy(f):
		return "proxy", "HTTPS_PROXY (HTTP_PROXY for http://)"
	case f.TokenRequest:
		return f.Receiver(), "oauth2.token_url"
	}
	return f.Receiver(), "base_url"
}

// standIn names what may have responded in place of the receiver.
func standIn(f failure) string {
	if f.Form == masking.FormPage {
		return "a proxy or a login page"
	}
	return "a proxy"
}

// otherwise is a sentence about that, unless the response has the documented form.
func otherwise(f failure, address string) string {
	switch f.Form {
	case masking.FormDocumented:
		return ""
	case masking.FormJSON:
		return "Otherwise, a gateway may have responded: check " + address + "."
	}
	return "Otherwise, " + standIn(f) + " may have responded: check " + address + ", HTTPS_PROXY and NO_PROXY."
}

// orRaise is a clause about the limit that the failure has reached, if any.
func orRaise(f failure) string {
	switch {
	case causedBy(requests.ErrRequestTimeout)(f):
		return ", or raise request_timeout"
	case isTimeout(f), causedBy(requests.ErrNoTime)(f):
		return ", or raise the timeouts of the resource"
	case f.OutOfAttempts:
		return ", or raise retry.max_attempts"
	}
	return ""
}

// orReads is a sentence about a deployment that serves no reads, if the request was one.
func orReads(f failure) string {
	if !isRead(f) {
		return ""
	}
	return "If updates of {the stream|the streams} work, the deployment may not serve GET /v2/streams/{id} as detect_drift needs it. Then " +
		f.did.unserved
}
