package webhook

import (
	"bytes"
	"testing"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable/statetest"
	"atelier/persistence/memory"
)

// A snapshot and the later events yield the state of the whole log, for a snapshot at any position.
// The secret of a deleted webhook leaves the log.
func TestSnapshotsAreComplete(t *testing.T) {
	journal := memory.New()
	defer journal.Close()
	words, _ := Vocabulary.Words()
	kind := Kind(audit.New(journal, clock.System, 0))
	command := func(b Body) func(*View) Command { return func(*View) Command { return Command{Body: b} } }
	fails := func(tries uint32) func(*View) Command {
		return command(Note{Delivery: &Delivery{Id: "d", Type: HelpRequested, Tries: tries}, Outcome: Outcome{Status: 500, TookMS: 3, Error: NotConnected}})
	}
	commands := []func(*View) Command{
		command(Create{URL: "https://example.org", Events: []string{HelpRequested}, Names: true, Secret: []byte("the secret")}),
		command(NoteTest{ID: "t", Outcome: Outcome{Status: 204}}), fails(0), fails(uint32(len(Pauses))),
		command(Note{Delivery: &Delivery{Id: "e", Type: HelpRequested}, Outcome: Outcome{Status: 200}}),
	}
	for range MaxFailures {
		commands = append(commands, fails(0))
	}
	commands = append(commands, command(Resume{}), fails(0), command(Delete{}))
	records := statetest.Replay(t, kind, "hook", words, func(c Command) any { return c.Body }, commands...)
	erase := kind.Erase(&View{})
	for i, record := range records {
		e, err := kind.ParseEvent(record)
		if err != nil {
			t.Fatal(err)
		}
		if out, changed := erase(e); changed {
			e = out
		}
		if record, err = kind.AppendEvent(nil, e); err != nil || bytes.Contains(record, []byte("the secret")) {
			t.Errorf("record %d still contains the secret of a deleted webhook; %v", i+1, err)
		}
	}
}
