package requests

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stream-management/terraform-provider-stream/internal/masking"
)

var errEmptyFile = errors.New("it is empty")

const rotationDelay = 2 * time.Second // how long a request waits for a file to change

// secretFile is a file with a credential, which another program may replace at any time.
type secretFile struct {
	setting  string // the name of the file's setting, for errors
	path     string
	redactor *masking.Redactor
	token    string // a bearer token that was read last
}

// read returns the credential, and a function that reports whether the file is still as it was then. For at most the
// given wait, it reads again while the file is empty or missing, because it is being written, and while it has a rejected
// credential: a service may reject the old one just before the new one is written.
func (f *secretFile) read(ctx context.Context, rejected string, wait time.Duration) (text string, unchanged func() bool, err error) {
	limit, tick := time.After(wait), time.Tick(rotationDelay/40)
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
		case <-tick:
		case <-limit:
			return text, unchanged, err
		case <-ctx.Done():
			return "", unchanged, ctx.Err()
		}
	}
}

// readOnce returns the credential. The error is a [*failedSearch] that names the setting and the path.
func (f *secretFile) readOnce() (string, error) {
	var content []byte
	info, err := os.Stat(f.path)
	if err == nil && info.Mode().IsRegular() && info.Size() <= maxToken { // to open a pipe could take forever
		content, err = os.ReadFile(f.path)
	}
	text := string(bytes.TrimSpace(bytes.TrimPrefix(content, []byte("\ufeff"))))
	switch {
	case err != nil:
		err = cmp.Or(errors.Unwrap(err), err) // without the path
	case !info.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	case info.Size() > maxToken:
		err = fmt.Errorf("it is longer than %d KiB", maxToken>>10)
	case text == "":
		err = errEmptyFile
	case !utf8.ValidString(text): // such as UTF-16
		err = errors.New("it is not UTF-8 text")
	case strings.ContainsAny(text, "\r\n"):
		err = errors.New("it has more than one line")
	default:
		err = CheckToken(text)
	}
	if err != nil {
		path, _ := filepath.Abs(f.path) // with -chdir, a relative path does not begin where the user types
		reason := fmt.Sprintf("the file %q of %s cannot be used: %s", cmp.Or(path, f.path), f.setting, err)
		return "", &failedSearch{Result{Failure: Unauthenticated, Reason: reason, Err: errors.Join(ErrSecretFile, err)}}
	}
	f.redactor.Add(append(masking.Parts(text), text)...)
	return text, nil
}

// findToken reads a bearer token. The old one serves until the service rejects it.
func (f *secretFile) findToken(ctx context.Context, rejected string) *credential {
	wait := rotationDelay
	if f.token != "" && rejected == "" {
		wait = 0
	}
	token, unchanged, err := f.read(ctx, strings.TrimPrefix(rejected, "Bearer "), wait)
	switch {
	case err == nil:
		f.token = token
	case wait > 0:
		return &credential{err: err, holds: unchanged}
	}
	found := &credential{value: "Bearer " + f.token, holds: unchanged}
	if odd := Suspicion(f.token); odd != "" {
		found.note = "the token in the file " + odd
	}
	return found
}
