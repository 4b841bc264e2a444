package streams

import (
	"context"
	"io/fs"
)

// tokenFile is a bearer token in a file that may change during a run. All operations share what was
// read last.
type tokenFile struct {
	file     secretFile
	redactor *redactor
	renewal  renewal
	lock     chan struct{} // a mutex whose wait a context can end; guards the fields below
	token    string        // "" before the first read
	info     fs.FileInfo   // of the file when it was read
}

func newTokenFile(path string, r *redactor) *tokenFile {
	return &tokenFile{file: secretFile{"token_file", path}, redactor: r, lock: make(chan struct{}, 1)}
}

func (t *tokenFile) accepted(header string) { t.renewal.accept(header) }

func (t *tokenFile) header(ctx context.Context, refused string) (string, error) {
	select {
	case t.lock <- struct{}{}:
		defer func() { <-t.lock }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	info, changed := t.file.changedSince(t.info)
	wasRefused := t.token != "" && refused == bearer(t.token)
	if !changed && !wasRefused {
		return bearer(t.token), nil
	}
	var token string
	var err error
	if wasRefused && t.renewal.worthwhile() {
		token, err = t.file.readOther(ctx, t.token)
	} else {
		token, err = t.file.read()
	}
	switch {
	case err == nil:
		t.redactor.add(token)
		t.renewal.replace(bearer(token), wasRefused)
		t.token, t.info = token, info
	case t.token == "" || wasRefused:
		return "", err
	}
	// A file that is being written may be empty. The old token serves until the service refuses it.
	return bearer(t.token), nil
}

func bearer(token string) string { return "Bearer " + token }
