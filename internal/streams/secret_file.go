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
)

// ErrSecretFile is the cause of an [Error] if a file with a credential cannot be used.
var ErrSecretFile = errors.New("the file with the credential cannot be used")

var errEmptyFile = errors.New("it is empty")

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
		err = errEmptyFile
	case strings.ContainsAny(text, "\r\n"):
		err = errors.New("it has more than one line")
	default:
		err = CheckToken(text)
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

// unchanged returns a function that reports whether the file is as it was. A file without info did not exist.
func (f secretFile) unchanged(info fs.FileInfo) func() bool {
	return func() bool { return sameFile(info, f.info()) }
}

// info returns nil if the file cannot be found.
func (f secretFile) info() fs.FileInfo {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil
	}
	return info
}

func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// rotationDelay is how long an operation waits for a file to change.
const rotationDelay = 2 * time.Second

// readUntil reads the file until the result is as wanted, for at most rotationDelay. It returns the last result, and
// the file's state before that read.
func (f secretFile) readUntil(ctx context.Context, wanted func(string, error) bool) (string, fs.FileInfo, error) {
	limit := time.NewTimer(rotationDelay)
	defer limit.Stop()
	again := time.NewTicker(rotationDelay / 40)
	defer again.Stop()
	for {
		info := f.info()
		text, err := f.read()
		if wanted(text, err) {
			return text, info, err
		}
		select {
		case <-again.C:
		case <-limit.C:
			return text, info, err
		case <-ctx.Done():
			return "", info, ctx.Err()
		}
	}
}
