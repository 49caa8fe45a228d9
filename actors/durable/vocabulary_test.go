package durable_test

import (
	"errors"
	"fmt"
	"testing"

	"atelier/actors/durable"
)

type wish interface{ wish() }

type say struct{ Word string }

func (say) wish() {}

type other struct{}

func (other) wish() {}

func TestAVocabularyKnowsItsWordsOnly(t *testing.T) {
	v := durable.NewVocabulary[wish](durable.Says[say, string]())
	if _, _, err := v.Encode(other{}); err == nil {
		t.Error("a stranger was encoded")
	}
	if _, err := v.Decode("other", []byte("{}")); !errors.Is(err, durable.ErrUnknownCommand) {
		t.Errorf("a stranger was decoded: %v", err)
	}
	if _, err := v.Decode("say", []byte(`{"Word":"hello","Loud":true}`)); !errors.Is(err, durable.ErrUnknownCommand) {
		t.Errorf("a part of a word was dropped: %v", err)
	}
	if _, err := v.Decode("say", []byte(`{"Word":1}`)); err == nil {
		t.Error("a word of another form was decoded")
	}
	if _, err := v.EncodeReply("say", 7); err == nil {
		t.Error("a reply of another type was encoded")
	}
	if _, err := v.DecodeReply("other", []byte("1")); err == nil {
		t.Error("a reply to a stranger was decoded")
	}
	name, fields, err := v.Encode(say{"hello"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := v.Decode(name, fields); got != wish(say{"hello"}) || err != nil {
		t.Errorf("a word became %v, %v", got, err)
	}
	for _, reply := range []any{"so", nil} {
		b, err := v.EncodeReply(name, reply)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := v.DecodeReply(name, b); got != reply || err != nil {
			t.Errorf("the reply %v became %v, %v", reply, got, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("one name was taken twice")
		}
	}()
	durable.NewVocabulary[wish](durable.Says[say, string](), durable.Says[say, int]())
}

// After a refusal nothing was applied. After any other error the outcome is unknown.
func TestWhatIsCertainlyNotApplied(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, durable.ErrUnavailable: false, durable.ErrTimeout: false, durable.ErrConflict: false, errors.New("another"): false,
		durable.ErrBusy: true, durable.ErrReadOnly: true, durable.ErrRested: true, durable.Reject(durable.Conflict, "no"): true,
		fmt.Errorf("about it: %w", durable.ErrReadOnly): true, fmt.Errorf("about it: %w", durable.Reject(durable.Missing, "no")): true,
	} {
		if durable.Refused(err) != want {
			t.Errorf("%v is certainly not applied: %v", err, !want)
		}
	}
	if durable.IsMissing(durable.Reject(durable.Conflict, "no")) || !durable.IsMissing(fmt.Errorf("about it: %w", durable.Reject(durable.Missing, "no"))) || durable.IsMissing(nil) {
		t.Error("what is missing is not told from what is not")
	}
}

// Rows use the reserve of a full disk if all of them are urgent.
func TestUrgentRows(t *testing.T) {
	rows := []durable.Row{{Table: "a"}, {Table: "b"}}
	if durable.Urgent(nil) || durable.Urgent(rows) {
		t.Error("nothing is urgent")
	}
	if rows[0].Urgent = true; durable.Urgent(rows) {
		t.Error("one of two rows is urgent, and both would be written")
	}
	if made := durable.MakeUrgent(rows); !durable.Urgent(made) || len(made) != 2 || made[1].Table != "b" {
		t.Errorf("made urgent they are %v", made)
	}
}
