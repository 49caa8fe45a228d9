package durable_test

import (
	"errors"
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
	defer func() {
		if recover() == nil {
			t.Error("one name was taken twice")
		}
	}()
	durable.NewVocabulary[wish](durable.Says[say, string](), durable.Says[say, int]())
}
