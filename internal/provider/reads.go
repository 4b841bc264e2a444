package provider

import (
	"context"
	"iter"
)

// readStream reads a stream, with detect_drift only.
func (s *session) readStream(ctx context.Context, id string) outcome {
	got, err := s.client.ReadStream(ctx, id)
	return outcome{got: got, err: err}
}

// readEach reads streams, as many at the same time as the client sends requests, and yields the results as they
// come. It ends when limit streams are read or have failed, or after an interrupt.
func (s *session) readEach(ctx context.Context, ids []string, limit int64) iter.Seq2[string, outcome] {
	type result struct {
		id string
		outcome
	}
	return func(yield func(string, outcome) bool) {
		results := make(chan result, s.client.MaxConcurrent())
		running, counted := 0, int64(0)
		for {
			for len(ids) > 0 && running < cap(results) && int64(running)+counted < limit && ctx.Err() == nil {
				id := ids[0]
				ids = ids[1:]
				running++
				go func() {
					ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
					defer cancel()
					results <- result{id, s.readStream(ctx, id)}
				}()
			}
			if running == 0 {
				return
			}
			r := <-results
			running--
			if !streamNotFound(r.err) {
				counted++
			}
			if !yield(r.id, r.outcome) {
				return
			}
		}
	}
}
