package durable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Vocabulary contains the commands of one kind of actor by name, and the types of their replies.
// With it, commands and replies can be sent to another process as JSON. B is the common interface
// of the commands. Immutable.
type Vocabulary[B any] struct {
	words map[string]Word
	names map[reflect.Type]string
}

// Word is one command and its reply.
type Word struct{ command, reply reflect.Type }

// Nothing is the reply type of a command that is answered with nil.
type Nothing struct{}

// Says declares a command of type C with a reply of type R.
func Says[C, R any]() Word { return Word{reflect.TypeFor[C](), reflect.TypeFor[R]()} }

// NewVocabulary returns a vocabulary of these words. It panics if a command does not implement B,
// or if two commands have the same name.
func NewVocabulary[B any](words ...Word) *Vocabulary[B] {
	v := &Vocabulary[B]{words: map[string]Word{}, names: map[reflect.Type]string{}}
	for _, w := range words {
		name := w.command.Name()
		if _, twice := v.words[name]; twice || !w.command.Implements(reflect.TypeFor[B]()) {
			panic(fmt.Sprintf("durable: %v is not a new %v", w.command, reflect.TypeFor[B]()))
		}
		v.words[name], v.names[w.command] = w, name
	}
	return v
}

// Words returns the types of all commands and replies, sorted by the commands' names.
func (v *Vocabulary[B]) Words() (commands, replies []reflect.Type) {
	names := make([]string, 0, len(v.words))
	for name := range v.words {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		commands, replies = append(commands, v.words[name].command), append(replies, v.words[name].reply)
	}
	return commands, replies
}

// Name returns the name of a command, or "" if the command is not in the vocabulary.
func (v *Vocabulary[B]) Name(command B) string { return v.names[reflect.TypeOf(command)] }

// Encode returns a command's name and its fields as JSON.
func (v *Vocabulary[B]) Encode(command B) (name string, fields []byte, err error) {
	name, ok := v.names[reflect.TypeOf(command)]
	if !ok {
		return "", nil, fmt.Errorf("encode command: %T is not in the vocabulary", command)
	}
	fields, err = json.Marshal(command)
	return name, fields, err
}

// Decode is the inverse of Encode. It rejects an unknown command, and fields that it cannot decode,
// with ErrUnknownCommand, because a newer program can have sent them. Fields that are added to a
// command get omitempty, so that only commands that use these fields are rejected.
func (v *Vocabulary[B]) Decode(name string, fields []byte) (command B, err error) {
	w, ok := v.words[name]
	if !ok {
		return command, fmt.Errorf("%w: %q is not in the vocabulary", ErrUnknownCommand, name)
	}
	into := reflect.New(w.command)
	in := json.NewDecoder(bytes.NewReader(fields))
	in.DisallowUnknownFields()
	if err := in.Decode(into.Interface()); err != nil {
		return command, fmt.Errorf("%w: decode %s: %w", ErrUnknownCommand, name, err)
	}
	return into.Elem().Interface().(B), nil
}

// EncodeReply returns the reply to the command with this name as JSON.
func (v *Vocabulary[B]) EncodeReply(name string, reply any) ([]byte, error) {
	if w := v.words[name]; reply != nil && reflect.TypeOf(reply) != w.reply {
		return nil, fmt.Errorf("encode reply: %s is answered with %T, not with %v", name, reply, w.reply)
	}
	return json.Marshal(reply)
}

// DecodeReply is the inverse of EncodeReply.
func (v *Vocabulary[B]) DecodeReply(name string, reply []byte) (any, error) {
	w, ok := v.words[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("decode reply: %q is not in the vocabulary", name)
	case string(reply) == "null":
		return nil, nil
	}
	into := reflect.New(w.reply)
	if err := json.Unmarshal(reply, into.Interface()); err != nil {
		return nil, fmt.Errorf("decode reply to %s: %w", name, err)
	}
	return into.Elem().Interface(), nil
}
