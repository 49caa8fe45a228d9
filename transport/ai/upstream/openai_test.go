package upstream

import (
	"testing"

	"atelier/transport/ai/keys"
)

// A client can send a parameter under two of its names. The result must not depend on the order of a
// map.
func TestTheLastNameOfAParameterCounts(t *testing.T) {
	q := &Query{Model: "m", Config: map[string]any{"maxOutputTokens": 1.0, "max_output_tokens": 2.0, "max_tokens": 3.0}}
	for range 50 {
		_, _, body, err := openAI{}.request("https://ai.example", keys.Key{}, q)
		if err != nil {
			t.Fatal(err)
		}
		if n := body.(map[string]any)["max_tokens"]; n != 3.0 {
			t.Fatalf("max_tokens is %v, want 3, as in the last name in alphabetical order", n)
		}
	}
}
