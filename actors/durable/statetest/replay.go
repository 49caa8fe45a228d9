package statetest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"atelier/actors/durable"
)

// Replay lets an actor decide commands, each derived from the view after the earlier ones. Each
// command must cause at least one event. After each command, Replay compares the state, field by
// field, with the states restored from the whole log, and from each earlier snapshot and the later
// records. Replay encodes events as bytes, as a store does, and returns the bytes. words contains
// the commands of the vocabulary, each of which must occur. body returns the body of a command.
func Replay[C, E, V any](t testing.TB, kind durable.Kind[C, E, V], id string, words []reflect.Type, body func(C) any, commands ...func(v *V) C) (records [][]byte) {
	t.Helper()
	seen := map[reflect.Type]bool{}
	defer func() {
		for _, w := range words {
			if !seen[w] && !t.Failed() {
				t.Errorf("no command has the type %s", w)
			}
		}
	}()
	core := kind.New(id)
	type copied struct {
		core durable.Core[C, E, V]
		from int
	}
	copies := []copied{{kind.New(id), 0}}
	now := time.UnixMilli(1_800_000_000_000).UTC()
	for i, command := range commands {
		cmd := command(core.Capture())
		seen[reflect.TypeOf(body(cmd))] = true
		d, err := core.Decide(cmd, durable.Env{Now: now.Add(time.Duration(i) * time.Second), Seq: uint64(len(records)) + 1})
		if err != nil {
			t.Fatalf("command %d, %+v: %v", i, cmd, err)
		}
		if len(d.Events) == 0 {
			t.Fatalf("command %d, %+v, makes no events", i, cmd)
		}
		for _, e := range d.Events {
			record, err := kind.AppendEvent(nil, e)
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, record)
			seq := uint64(len(records))
			for _, c := range append(slices.Clone(copies), copied{core, 0}) {
				again, err := kind.ParseEvent(record)
				if err != nil {
					t.Fatal(err)
				}
				c.core.Apply(seq, again)
			}
		}
		restored := kind.New(id)
		state, err := kind.EncodeState(core.Capture())
		if err == nil {
			err = restored.Restore(uint64(len(records)), state)
		}
		if err != nil {
			t.Fatal(err)
		}
		copies = append(copies, copied{restored, len(records)})
		for _, c := range copies {
			if diff := Diff(core, c.core); diff != "" {
				t.Fatalf("after command %d, %s: a snapshot at %d of %d lacks %s", i, fmt.Sprintf("%+v", cmd), c.from, len(records), diff)
			}
		}
	}
	return records
}
