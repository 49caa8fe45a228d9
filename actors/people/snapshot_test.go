package people

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
	command := func(who Caller, b Body) func(*View) Command {
		return func(*View) Command { return Command{Caller: who, Body: b} }
	}
	first := func(body func(p *Person) Body) func(*View) Command {
		return func(v *View) Command { return Command{Caller: owner, Body: body(v.all[0])} }
	}
	name, yes := "Another", true
	statetest.Replay(t, Kind(audit.New(journal, clock.System, 0), "owner"), ID, words, func(c Command) any { return c.Body },
		command(owner, Invite{Login: "ann", Name: "Ann", Role: Assistant, Token: []byte("invitation of ann")}),
		command(owner, Invite{Login: "bob", Name: "Bob", Role: Facilitator, Token: []byte("invitation of bob")}),
		first(func(p *Person) Body { return InviteAgain{ID: p.Id, Token: []byte("again")} }),
		command(Caller{}, Accept{Token: []byte("again"), Password: "hash"}),
		first(func(p *Person) Body { return SetPassword{ID: p.Id, Was: "hash", Password: "next"} }),
		first(func(p *Person) Body { return NoteSeen{ID: p.Id} }),
		first(func(p *Person) Body { return Update{ID: p.Id, Name: &name, Disabled: &yes} }),
		command(Caller{}, signIn("carl", "carl@example.org")),
		func(v *View) Command { return Command{Caller: owner, Body: Delete{ID: v.all[len(v.all)-1].Id}} },
		first(func(p *Person) Body { return Delete{ID: p.Id} }),
	)
}
