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

const rotationDelay = 2 * time.Second // how long a request waits for a file to be written

// secretFile is a file with a credential, which another program may replace at any time.
type secretFile struct {
	setting  string // the name of the file's setting, for errors
	path     string
	redactor *masking.Redactor
	last     string // that was read; it serves while the file cannot be read
	waited   bool   // for the file to be written
}

// read returns the credential. It waits for the file once if that is empty or missing at first, and while it has the last credential if
// that was rejected: a service may reject the old one just before the new one is written.
func (f *secretFile) read(ctx context.Context, rejected bool) (string, error) {
	limit := time.Now().Add(rotationDelay)
	text, err := f.readOnce()
	for wait := rejected || !f.waited; wait && f.mayChange(text, err, rejected); text, err = f.readOnce() {
		select {
		case <-time.After(rotationDelay / 40):
			wait = time.Now().Before(limit)
		case <-ctx.Done():
			wait = false
		}
	}
	f.waited = true
	if err == nil && text != f.last {
		f.redactor.Add(append(masking.Parts(text), text)...)
		f.last = text
	}
	if f.last == "" {
		return "", err
	}
	return f.last, nil
}

// mayChange reports whether a file that was read so may change soon.
func (f *secretFile) mayChange(text string, err error, rejected bool) bool {
	return errors.Is(err, errEmptyFile) || errors.Is(err, fs.ErrNotExist) || err == nil && rejected && text == f.last
}

// readOnce returns the credential. The error names the setting and the path.
func (f *secretFile) readOnce() (string, error) {
	content, err := os.ReadFile(f.path)
	text := string(bytes.TrimSpace(bytes.TrimPrefix(content, []byte("\ufeff"))))
	switch {
	case err != nil:
		err = cmp.Or(errors.Unwrap(err), err) // without the path
	case !utf8.ValidString(text): // such as UTF-16
		err = errors.New("it is not UTF-8 text")
	case text == "":
		err = errEmptyFile
	case strings.ContainsAny(text, "\r\n"):
		err = errors.New("it has more than one line")
	default:
		err = CheckToken(text)
	}
	if err == nil {
		return text, nil
	}
	path, _ := filepath.Abs(f.path) // with -chdir, a relative path does not begin where the user types
	return "", fmt.Errorf("the file %q of %s cannot be used: %w", cmp.Or(path, f.path), f.setting, err)
}

// findToken looks for a bearer token.
func (f *secretFile) findToken(ctx context.Context, rejected bool) (*credential, *failedSearch) {
	token, err := f.read(ctx, rejected)
	if err != nil {
		return nil, unreadable(err)
	}
	found := &credential{value: "Bearer " + token}
	if odd := Suspicion(token); odd != "" {
		found.note = "the token in the file " + odd
	}
	return found, nil
}

// unreadable returns why a search finds nothing in a file. The next one reads it again.
func unreadable(err error) *failedSearch {
	return &failedSearch{until: time.Now(),
		result: Result{Failure: Unauthenticated, Reason: err.Error(), Err: errors.Join(ErrSecretFile, err)}}
}
