package streams

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// credential is the Authorization header of all requests. No scheme is specified (INTERFACE.md, section 5).
// If the header has to be found, one request does that, and the others wait for its result.
type credential struct {
	// source returns another header than rejected if there is one, for one request at a time; nil: the header is fixed.
	source func(ctx context.Context, rejected string) *found
	issued bool          // the headers are tokens, which an endpoint issues to one client
	search chan struct{} // has an element while a request looks for a header
	last   atomic.Pointer[found]
}

// found is a header, or an error.
type found struct {
	header string
	err    error
	holds  func() bool // reports whether this is still right
	*trial
}

func newCredential(s *sender) *credential {
	c, cfg := &credential{search: make(chan struct{}, 1)}, s.settings
	fixed := &found{trial: newTrial(), holds: func() bool { return c.source == nil }}
	c.last.Store(fixed)
	switch {
	case cfg.OAuth2 != nil:
		c.source, c.issued = newTokenSource(*cfg.OAuth2, s).find, true
	case cfg.TokenFile != "":
		c.source = (&secretFile{setting: "token_file", path: cfg.TokenFile, redactor: s.redactor}).findToken
	case cfg.BasicAuth != nil:
		fixed.header = "Basic " + basicCredentials(cfg.BasicAuth.Username, cfg.BasicAuth.Password)
	case cfg.Token != "":
		fixed.header = "Bearer " + cfg.Token
	}
	return c
}

// header returns the header for a request; it may be "" for none. rejected is the header that the service has just
// rejected with 401, or "": then header returns another one if it can get one.
func (c *credential) header(ctx context.Context, rejected string) (*found, error) {
	if last := c.last.Load(); rejected == "" && last.err == nil && last.holds() && !last.isWrong() {
		return last, nil // also during a search for a better one
	}
	select {
	case c.search <- struct{}{}:
		defer func() { <-c.search }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrTokenWait, ctx.Err())
	}
	last, avoid := c.last.Load(), ""
	if last.header == rejected {
		avoid = last.header
	}
	stays := last.holds() || c.issued && last.isWrong() // a client that is rejected gets no token for its age
	if stays && (c.source == nil || avoid == "" || last.isLast()) {
		switch e, failed := errors.AsType[*Error](last.err); {
		case failed:
			return nil, e.repeat("")
		case last.isWrong():
			return nil, last.lastRejection().repeat("the service has rejected the same credentials for other streams")
		}
		return last, nil
	}
	f := c.source(ctx, avoid)
	switch {
	case f.err != nil && (ctx.Err() != nil || errors.Is(f.err, ErrRateLimit)): // other requests may have more time
		return nil, f.err
	case f.header == last.header || c.issued && last.isSecondTry():
		f.trial = last.trial
		if avoid != "" {
			f.exhaust()
		}
	default:
		f.trial = newTrial()
		if f.replaces = avoid != ""; f.replaces {
			last.replace()
		}
	}
	c.last.Store(f)
	return f, f.err
}

var errEmptyFile = errors.New("it is empty")

const rotationDelay = 2 * time.Second // how long a request waits for a file to change

// secretFile is a file with a credential, which another program may replace at any time.
type secretFile struct {
	setting  string // the name of the file's setting, for errors
	path     string
	redactor *redactor
	token    string // a bearer token that was read last
}

// read returns the credential, and a function that reports whether the file is still as it was then. For at most the
// given wait, it reads again while the file is empty or missing, because it is being written, and while it has a rejected
// credential: a service may reject the old one just before the new one is written.
func (f *secretFile) read(ctx context.Context, rejected string, wait time.Duration) (text string, unchanged func() bool, err error) {
	limit, again := time.After(wait), time.Tick(rotationDelay/40)
	for {
		before, _ := os.Stat(f.path)
		unchanged = func() bool {
			now, _ := os.Stat(f.path)
			return before == nil && now == nil ||
				os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
		}
		text, err = f.readOnce()
		mayChange := errors.Is(err, errEmptyFile) || errors.Is(err, fs.ErrNotExist) || err == nil && text == rejected
		if !mayChange {
			return text, unchanged, err
		}
		select {
		case <-again:
		case <-limit:
			return text, unchanged, err
		case <-ctx.Done():
			return "", unchanged, ctx.Err()
		}
	}
}

// readOnce returns the credential. The error is an [*Error] that names the setting and the path.
func (f *secretFile) readOnce() (string, error) {
	var content []byte
	info, err := os.Stat(f.path)
	if err == nil && info.Mode().IsRegular() && info.Size() <= maxToken { // to open a pipe could take forever
		content, err = os.ReadFile(f.path)
	}
	text := string(bytes.TrimSpace(bytes.TrimPrefix(content, byteOrderMark)))
	switch {
	case err != nil:
		err = cmp.Or(errors.Unwrap(err), err) // without the path
	case !info.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	case info.Size() > maxToken:
		err = fmt.Errorf("it is longer than %d KiB", maxToken>>10)
	case text == "":
		err = errEmptyFile
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"):
		err = errors.New("it is UTF-16; write it as UTF-8, in PowerShell with Set-Content -Encoding utf8")
	case strings.ContainsAny(text, "\r\n"):
		err = errors.New("it has more than one line")
	default:
		err = CheckToken(text)
	}
	if err != nil {
		reason := fmt.Sprintf("the file %q of %s cannot be used: %s", f.path, f.setting, err)
		return "", &Error{Kind: KindAuthentication, Reason: reason, Err: errors.Join(ErrSecretFile, err)}
	}
	f.redactor.add(append(parts(text), text)...)
	return text, nil
}

// findToken reads a bearer token. The old one serves until the service rejects it.
func (f *secretFile) findToken(ctx context.Context, rejected string) *found {
	wait := rotationDelay
	if f.token != "" && rejected == "" {
		wait = 0
	}
	token, unchanged, err := f.read(ctx, strings.TrimPrefix(rejected, "Bearer "), wait)
	switch {
	case err == nil:
		f.token = token
	case wait > 0:
		return &found{err: err, holds: unchanged}
	}
	return &found{header: "Bearer " + f.token, holds: unchanged}
}
