package participant

import (
	"testing"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable/statetest"
	"atelier/persistence/memory"
)

// A snapshot and the later events yield the state of the whole log, for a snapshot at any position.
func TestSnapshotsAreComplete(t *testing.T) {
	journal := memory.New()
	defer journal.Close()
	words, _ := Vocabulary.Words()
	add := func(key string) func(*View) Command {
		return func(*View) Command {
			return Command{Body: Add{Name: key, Kind: Platform, Scopes: []string{ScopeTokenize}, Identity: "identity of " + key, KeyID: key, SecretHash: []byte(key)}}
		}
	}
	about := func(body func(id, other string) Body) func(*View) Command {
		return func(v *View) Command { return Command{Body: body(v.all[0].Id, v.all[1].Id)} }
	}
	statetest.Replay(t, Kind(audit.New(journal, clock.System, 0)), ID, words, func(c Command) any { return c.Body },
		add("k1"), add("k2"),
		about(func(id, _ string) Body { return AddKey{ID: id, KeyID: "k3", SecretHash: []byte("k3")} }),
		about(func(id, _ string) Body { return RemoveKey{ID: id, KeyID: "k1"} }),
		about(func(id, other string) Body { return Grant{ID: id, For: other} }),
		about(func(id, other string) Body { return Grant{ID: other, For: id} }),
		about(func(id, other string) Body { return Ungrant{ID: other, For: id} }),
		about(func(id, _ string) Body { return SetPolicy{ID: id, Policy: "ttl", TTLSeconds: 60} }),
		about(func(id, _ string) Body { return SetEncryptionKey{ID: id, Key: []byte(`{"kty":"EC"}`)} }),
		about(func(id, _ string) Body { return Disable{ID: id} }),
		about(func(id, _ string) Body { return Acknowledge{ID: id, Version: "1"} }), // does not enable the participant again
		func(v *View) Command {
			if !v.all[0].Disabled {
				t.Error("a disabled participant is enabled again")
			}
			return add("k4")(v)
		},
	)
}
