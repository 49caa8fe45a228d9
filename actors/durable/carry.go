package durable

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Carrier brings commands of one kind of actor, and what they are answered
// with, to the node that owns the actor.
type Carrier[C any] struct {
	Encode func(C) ([]byte, error)
	Decode func([]byte) (C, error)
	// EncodeReply and DecodeReply are for the value that a command is answered
	// with.
	EncodeReply func(cmd C, value any) ([]byte, error)
	DecodeReply func(cmd C, data []byte) (any, error)
	// Repeatable says that a command may be sent again when its answer was
	// lost: done twice, it is as if done once.
	Repeatable func(C) bool
}

// CarryJSON is the carrier of commands that JSON brings whole, whose bodies are
// words of the vocabulary.
func CarryJSON[C, B any](words *Vocabulary[B], body func(C) B, repeatable func(C) bool) *Carrier[C] {
	name := func(cmd C) string { return words.Name(body(cmd)) }
	return &Carrier[C]{
		Encode: func(cmd C) ([]byte, error) { return json.Marshal(cmd) },
		Decode: func(data []byte) (cmd C, err error) { return cmd, json.Unmarshal(data, &cmd) },
		EncodeReply: func(cmd C, value any) ([]byte, error) {
			return words.EncodeReply(name(cmd), value)
		},
		DecodeReply: func(cmd C, data []byte) (any, error) { return words.DecodeReply(name(cmd), data) },
		Repeatable:  repeatable,
	}
}

// CarriedBody is a command's body on its way: its name and its fields.
type CarriedBody struct {
	Kind   string          `json:"kind"`
	Fields json.RawMessage `json:"body"`
}

// Carry encodes a body.
func (v *Vocabulary[B]) Carry(body B) (CarriedBody, error) {
	name, fields, err := v.Encode(body)
	return CarriedBody{name, fields}, err
}

// Bring decodes a body.
func (v *Vocabulary[B]) Bring(c CarriedBody) (B, error) { return v.Decode(c.Kind, c.Fields) }

// codes are the errors that cross between nodes as themselves.
var codes = map[string]error{
	"busy": ErrBusy, "read-only": ErrReadOnly, "quarantined": ErrQuarantined, "timeout": ErrTimeout,
	"internal": ErrInternal, "closed": ErrClosed, "unavailable": ErrUnavailable,
}

// refusal is an error on its way to another node.
type refusal struct {
	Code   string `json:"code,omitempty"`
	Reason Reason `json:"reason,omitempty"`
	Text   string `json:"text,omitempty"`
}

func encodeRefusal(err error) []byte {
	var r refusal
	var rejected *Rejection
	if errors.As(err, &rejected) {
		r.Reason, r.Text = rejected.Reason, rejected.Text
	} else {
		r.Code = "unavailable"
		for code, known := range codes {
			if errors.Is(err, known) {
				r.Code = code
				break
			}
		}
	}
	b, _ := json.Marshal(r) // of strings and a number
	return b
}

func decodeRefusal(data []byte) error {
	var r refusal
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("%w: a refusal that cannot be read", ErrUnavailable)
	}
	if r.Reason != 0 {
		return &Rejection{Reason: r.Reason, Text: r.Text}
	}
	if err := codes[r.Code]; err != nil {
		return err
	}
	return ErrUnavailable
}
