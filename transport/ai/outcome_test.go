package ai

import (
	"testing"

	"atelier/transport/ai/upstream"
)

// Only answers that the upstream blocks count as blocked. Answers cut at MAX_TOKENS count as ok.
func TestBlockedAnswersAreCountedSeparately(t *testing.T) {
	for finish, want := range map[string]string{"STOP": "ok", "MAX_TOKENS": "ok", upstream.Safety: "blocked", "PROHIBITED_CONTENT": "blocked"} {
		a := &answer{query: &upstream.Query{}}
		a.event(upstream.Chunk{Finish: finish})
		a.event(upstream.Chunk{Usage: &upstream.Usage{Total: 1}})
		if got := a.outcome(t.Context(), nil); got != want {
			t.Errorf("the finish reason %s is counted as %s, want %s", finish, got, want)
		}
	}
}
