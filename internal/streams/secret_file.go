package streams

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode"
)

// ErrSecretFile is the cause of an [Error] if a file with a credential cannot be used.
var ErrSecretFile = errors.New("the file with the credential cannot be used")

// maxSecretFile is the length of the longest file that can be a credential, in bytes.
const maxSecretFile = 64 << 10

// secretFile is a file whose content, without surrounding white space, is a credential. Another
// program may replace the content at any time.
type secretFile struct {
	setting string // the name of the file's setting, for errors
	path    string
}

// read returns the credential. The error is an [*Error] that names the setting and the path.
func (f secretFile) read() (string, error) {
	content, err := f.content()
	text := strings.TrimSpace(strings.TrimPrefix(content, "\ufeff"))
	switch {
	case err != nil:
	case text == "":
		err = errors.New("it is empty")
	case strings.ContainsAny(text, "\r\n"):
		err = errors.New("it has more than one line")
	case strings.ContainsFunc(text, unicode.IsControl) || CheckHeader("Authorization", text) != nil:
		err = errors.New("it has control characters")
	}
	if err != nil {
		return "", &Error{
			Kind: KindAuthentication, Reason: fmt.Sprintf("the file %q of %s cannot be used: %s", f.path, f.setting, err), Err: errors.Join(ErrSecretFile, err),
		}
	}
	return text, nil
}

func (f secretFile) content() (string, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return "", withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file") // to open a pipe could take forever
	}
	file, err := os.Open(f.path)
	if err != nil {
		return "", withoutPath(err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxSecretFile+1))
	if err != nil {
		return "", withoutPath(err)
	}
	if len(content) > maxSecretFile {
		return "", fmt.Errorf("it is longer than %d KiB", maxSecretFile>>10)
	}
	return string(content), nil
}

func withoutPath(err error) error {
	if known := (*fs.PathError)(nil); errors.As(err, &known) {
		return known.Err
	}
	return err
}

// changedSince reports whether the file may have changed since info, which may be nil.
func (f secretFile) changedSince(info fs.FileInfo) (now fs.FileInfo, changed bool) {
	now, err := os.Stat(f.path)
	if err != nil {
		return nil, true
	}
	return now, info == nil || !os.SameFile(now, info) || now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime())
}

// rotationDelay is how long a refused credential waits for the file to change: the service may refuse
// the old credential a moment before the new one is written.
const rotationDelay = 2 * time.Second

// readOther reads the file until its content is not old, for at most rotationDelay. Then it returns
// what the last read returned.
func (f secretFile) readOther(ctx context.Context, old string) (string, error) {
	limit := time.NewTimer(rotationDelay)
	defer limit.Stop()
	again := time.NewTicker(rotationDelay / 40)
	defer again.Stop()
	for {
		text, err := f.read()
		if err == nil && text != old {
			return text, nil
		}
		select {
		case <-again.C:
		case <-limit.C:
			return text, err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
