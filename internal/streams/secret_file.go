package streams

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// ErrSecretFile is the cause of an [Error] if a file with a credential cannot be used.
var ErrSecretFile = errors.New("the file with the credential cannot be used")

// ErrUTF16 is the cause if a text is in the encoding that Windows PowerShell writes by default.
var ErrUTF16 = errors.New("it is UTF-16; write it as UTF-8, in PowerShell with Set-Content -Encoding utf8")

var errEmptyFile = errors.New("it is empty")

// rotationDelay is how long a request waits for a file to change.
const rotationDelay = 2 * time.Second

// secretFile is a file whose content, without surrounding white space, is a credential. Another
// program may replace the content at any time.
type secretFile struct {
	setting  string // the name of the file's setting, for errors
	path     string
	redactor *redactor
}

// read returns the credential, and a function that reports whether the file is still as it was then. For at most the
// given wait, it reads again while the file is empty, because it is being written, and while it has a refused
// credential: a service may refuse the old one just before the new one is written.
func (f *secretFile) read(ctx context.Context, refused string, wait time.Duration) (text string, unchanged func() bool, err error) {
	limit, again := time.After(wait), time.Tick(rotationDelay/40)
	for {
		before, _ := os.Stat(f.path)
		unchanged = func() bool {
			now, _ := os.Stat(f.path)
			if now == nil || before == nil {
				return now == before
			}
			return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
		}
		text, err = f.readOnce()
		mayChange := errors.Is(err, errEmptyFile) || err == nil && text == refused
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
	content, err := f.content()
	text := string(bytes.TrimSpace(bytes.TrimPrefix(content, byteOrderMark)))
	switch {
	case err != nil:
		if p := (*fs.PathError)(nil); errors.As(err, &p) {
			err = p.Err
		}
	case text == "":
		err = errEmptyFile
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"):
		err = ErrUTF16
	case strings.ContainsAny(text, "\r\n"):
		err = errors.New("it has more than one line")
	default:
		err = CheckToken(text)
	}
	if err != nil {
		reason := fmt.Sprintf("the file %q of %s cannot be used: %s", f.path, f.setting, err)
		return "", &Error{Kind: KindAuthentication, Reason: reason, Err: errors.Join(ErrSecretFile, err)}
	}
	f.redactor.add(text)
	return text, nil
}

func (f *secretFile) content() ([]byte, error) {
	info, err := os.Stat(f.path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file") // to open a pipe could take forever
	case info.Size() > maxToken: // not read at all
		return nil, fmt.Errorf("it is longer than %d KiB", maxToken>>10)
	}
	return os.ReadFile(f.path)
}

// tokenFile is a bearer token in a file.
type tokenFile struct {
	secretFile
	token string // that was read last
}

// find reads the file. The old token serves until the service refuses it.
func (t *tokenFile) find(ctx context.Context, refused string) *found {
	wait := rotationDelay
	if t.token != "" && refused == "" {
		wait = 0
	}
	token, unchanged, err := t.read(ctx, strings.TrimPrefix(refused, "Bearer "), wait)
	switch {
	case err == nil:
		t.token = token
	case wait > 0:
		return &found{err: err, holds: unchanged}
	}
	return &found{header: "Bearer " + t.token, holds: unchanged}
}
