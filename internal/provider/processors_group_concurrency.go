package provider

import (
	"sync"

	"github.com/stream-management/terraform-provider-stream/internal/streams"
)

// groupOutcome is the outcome of an operation on one stream of a group.
type groupOutcome struct {
	id    string
	got   *streams.Stream // nil after a failure or a departure
	known knowledge
	err   error
}

// forEach runs an operation for each stream, as many at the same time as the client sends requests, and
// returns the results in the order of ids.
func forEach[T any](s *session, ids []string, operation func(id string) T) []T {
	results := make([]T, len(ids))
	workers := 1
	if s.configured() {
		workers = min(len(ids), s.client.MaxConcurrent())
	}
	next := make(chan int)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for i := range next {
				results[i] = operation(ids[i])
			}
		})
	}
	for i := range ids {
		next <- i
	}
	close(next)
	running.Wait()
	return results
}
