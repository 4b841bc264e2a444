package streams

import (
	"context"
	"errors"
)

// tokenFile is a bearer token in a file that may change during a run.
type tokenFile struct {
	file     secretFile
	redactor *redactor
	token    string // that was read last
}

// find reads the file. It waits a moment for another token if the service has refused the token in the file: a
// service may refuse the old token just before the new one is written. It also waits while the file is
// empty, because it is being written.
func (t *tokenFile) find(ctx context.Context, refused string) found {
	wanted := func(token string, err error) bool {
		if refused == "" && t.token != "" {
			return true // the old token serves until the service refuses it
		}
		return err == nil && bearer(token) != refused || err != nil && !errors.Is(err, errEmptyFile) && refused == ""
	}
	token, info, err := t.file.readUntil(ctx, wanted)
	if err != nil && (t.token == "" || refused != "") {
		return found{err: err, holds: t.file.unchanged(info)}
	}
	if err == nil {
		t.redactor.add(token)
		t.token = token
	}
	return found{header: bearer(t.token), holds: t.file.unchanged(info)}
}
