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

const fileWait = 2 * time.Second // how long the first request waits for a file to be written

// secretFile is a file with a credential, which another program may replace at any time.
type secretFile struct {
	setting  string // the name of the file's setting, for errors
	path     string
	redactor *masking.Redactor
	last     string // that was read; it serves while the file cannot be read
	waited   bool   // for the file to be written, which is done once
}

// read returns the credential.
func (f *secretFile) read(ctx context.Context) (string, error) {
	text, err := f.readOnce()
	for limit := time.Now().Add(fileWait); !f.waited && isMissing(err) && time.Now().Before(limit) && ctx.Err() == nil; {
		select {
		case <-time.After(fileWait / 40):
		case <-ctx.Done():
		}
		text, err = f.readOnce()
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

// isMissing reports whether a file could not be read because it is not written yet.
func isMissing(err error) bool { return errors.Is(err, errEmptyFile) || errors.Is(err, fs.ErrNotExist) }

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
func (f *secretFile) findToken(ctx context.Context) (*credential, *noCredential) {
	token, err := f.read(ctx)
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
func unreadable(err error) *noCredential {
	return &noCredential{until: time.Now(),
		result: Result{Failure: Unauthenticated, Reason: err.Error(), Err: errors.Join(ErrSecretFile, err)}}
}
