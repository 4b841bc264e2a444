//go:build linux

package main

import (
	"io"
	"net/http"
	"sync"
)

// stateServer is the remote end of Terraform's "http" backend. It keeps one state in memory. It has no
// locks, because only one command at a time uses it.
type stateServer struct {
	mu    sync.Mutex
	state []byte
}

// ServeHTTP implements [http.Handler].
func (s *stateServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		state := s.stored()
		if len(state) == 0 {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(state) // fails only if the CLI has gone
	case http.MethodPost:
		state, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.store(state)
	case http.MethodDelete:
		s.store(nil)
	default:
		http.Error(w, "this server supports GET, POST and DELETE", http.StatusMethodNotAllowed)
	}
}

// stored returns the state that was stored last, or nothing.
func (s *stateServer) stored() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *stateServer) store(state []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}
