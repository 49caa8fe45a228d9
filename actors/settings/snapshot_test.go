package settings

import (
	"bytes"
	"testing"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable/statetest"
	"atelier/actors/usage"
	"atelier/persistence/memory"
)

// A snapshot and the later events yield the state of the whole log, for a snapshot at any position.
func TestSnapshotsAreComplete(t *testing.T) {
	journal := memory.New()
	defer journal.Close()
	words, _ := Vocabulary.Words()
	command := func(b Body) func(*View) Command { return func(*View) Command { return Command{Body: b} } }
	kind := Kind(audit.New(journal, clock.System, 0))
	records := statetest.Replay(t, kind, "all", words, func(c Command) any { return c.Body },
		command(CreateToken{Name: "one", SecretHash: []byte("hash 1")}), command(CreateToken{Name: "two", Scope: "read", Days: 3, SecretHash: []byte("hash 2")}),
		command(SetAIKey{Sealed: []byte("first key")}), command(NoteAIUse{Usage: &usage.AIUsage{Model: "m"}}),
		func(v *View) Command { return Command{Body: RevokeToken{ID: v.Tokens[0].Id}} },
		command(SetAIKey{Sealed: []byte("second key")}),
	)
	// A replaced key leaves the log.
	erase := kind.Erase(&View{AIKey: []byte("second key")})
	for i, record := range records {
		e, err := kind.ParseEvent(record)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := erase(e)
		if out == nil {
			out = e
		}
		if record, err = kind.AppendEvent(nil, out); err != nil || bytes.Contains(record, []byte("first key")) {
			t.Errorf("record %d still contains the replaced key; %v", i+1, err)
		}
	}
}
