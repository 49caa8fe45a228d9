package durable_test

import (
	"errors"
	"fmt"
	"testing"

	"atelier/actors/durable"
)

type command interface{ command() }

type greet struct{ Word string }

func (greet) command() {}

type other struct{}

func (other) command() {}

func TestAVocabularyEncodesOnlyItsCommands(t *testing.T) {
	v := durable.NewVocabulary[command](durable.Says[greet, string]())
	if _, _, err := v.Encode(other{}); err == nil {
		t.Error("an unknown command was encoded")
	}
	if _, err := v.Decode("other", []byte("{}")); !errors.Is(err, durable.ErrUnknownCommand) {
		t.Errorf("decoding an unknown command returned %v", err)
	}
	if _, err := v.Decode("greet", []byte(`{"Word":"hello","Loud":true}`)); !errors.Is(err, durable.ErrUnknownCommand) {
		t.Errorf("decoding a command with an unknown field returned %v", err)
	}
	if _, err := v.Decode("greet", []byte(`{"Word":1}`)); err == nil {
		t.Error("a command with a field of the wrong type was decoded")
	}
	if _, err := v.EncodeReply("greet", 7); err == nil {
		t.Error("a reply of the wrong type was encoded")
	}
	if _, err := v.DecodeReply("other", []byte("1")); err == nil {
		t.Error("a reply to an unknown command was decoded")
	}
	name, fields, err := v.Encode(greet{"hello"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := v.Decode(name, fields); got != command(greet{"hello"}) || err != nil {
		t.Errorf("decoding the encoded command returned %v, %v", got, err)
	}
	for _, reply := range []any{"so", nil} {
		b, err := v.EncodeReply(name, reply)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := v.DecodeReply(name, b); got != reply || err != nil {
			t.Errorf("decoding the encoded reply %v returned %v, %v", reply, got, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("two commands with the same name were accepted")
		}
	}()
	durable.NewVocabulary[command](durable.Says[greet, string](), durable.Says[greet, int]())
}

// After a refusal nothing was applied. After any other error the outcome is unknown.
func TestWhichErrorsMeanNothingWasApplied(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, durable.ErrUnavailable: false, durable.ErrTimeout: false, durable.ErrConflict: false, errors.New("another"): false,
		durable.ErrBusy: true, durable.ErrReadOnly: true, durable.ErrRested: true, durable.Reject(durable.Conflict, "no"): true,
		fmt.Errorf("about it: %w", durable.ErrReadOnly): true, fmt.Errorf("about it: %w", durable.Reject(durable.Missing, "no")): true,
	} {
		if durable.Refused(err) != want {
			t.Errorf("Refused(%v) = %v", err, !want)
		}
	}
	if durable.IsMissing(durable.Reject(durable.Conflict, "no")) || !durable.IsMissing(fmt.Errorf("about it: %w", durable.Reject(durable.Missing, "no"))) || durable.IsMissing(nil) {
		t.Error("IsMissing is wrong")
	}
}

// An append can use the reserved disk space only if all of its rows are urgent.
func TestRowsAreUrgentIfAllOfThemAre(t *testing.T) {
	rows := []durable.Row{{Table: "a"}, {Table: "b"}}
	if durable.Urgent(nil) || durable.Urgent(rows) {
		t.Error("rows that are not urgent count as urgent")
	}
	if rows[0].Urgent = true; durable.Urgent(rows) {
		t.Error("rows count as urgent although only one of them is")
	}
	if made := durable.MakeUrgent(rows); !durable.Urgent(made) || len(made) != 2 || made[1].Table != "b" {
		t.Errorf("MakeUrgent returned %v", made)
	}
}
