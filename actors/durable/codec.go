package durable

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Codec encodes the commands of one kind of actor, and their answers, for the node that owns the
// actor.
type Codec[C any] struct {
	Encode func(C) ([]byte, error)
	Decode func([]byte) (C, error)
	// EncodeReply and DecodeReply are for the answer's value.
	EncodeReply func(cmd C, value any) ([]byte, error)
	DecodeReply func(cmd C, data []byte) (any, error)
	// Repeatable reports whether a command can be sent again if its answer was lost, because
	// executing the command twice has the same effect as executing it once.
	Repeatable func(C) bool
}

// JSONCodec returns the codec of commands whose bodies are in the vocabulary. split divides a
// command into its body and the rest; join is the inverse. Body and rest are encoded as JSON.
func JSONCodec[C, B, R any](words *Vocabulary[B], split func(C) (B, R), join func(B, R) C, repeatable func(C) bool) *Codec[C] {
	type carried struct {
		Kind string
		Body json.RawMessage
		Rest R
	}
	name := func(cmd C) string {
		body, _ := split(cmd)
		return words.Name(body)
	}
	return &Codec[C]{
		Encode: func(cmd C) ([]byte, error) {
			body, rest := split(cmd)
			kind, fields, err := words.Encode(body)
			if err != nil {
				return nil, err
			}
			return json.Marshal(carried{kind, fields, rest})
		},
		Decode: func(data []byte) (cmd C, err error) {
			var in carried
			if err := json.Unmarshal(data, &in); err != nil {
				return cmd, err
			}
			body, err := words.Decode(in.Kind, in.Body)
			return join(body, in.Rest), err
		},
		EncodeReply: func(cmd C, value any) ([]byte, error) {
			return words.EncodeReply(name(cmd), value)
		},
		DecodeReply: func(cmd C, data []byte) (any, error) { return words.DecodeReply(name(cmd), data) },
		Repeatable:  repeatable,
	}
}

// codes are the errors that keep their identity (errors.Is) when another node returns them.
var codes = map[string]error{
	"busy": ErrBusy, "read-only": ErrReadOnly, "quarantined": ErrQuarantined, "timeout": ErrTimeout,
	"internal": ErrInternal, "closed": ErrClosed, "unavailable": ErrUnavailable,
}

// unknownCommand is the code of ErrUnknownCommand. It is not in codes, because ErrUnknownCommand
// also wraps ErrUnavailable.
const unknownCommand = "unknown-command"

// refusal is an error that is sent to another node.
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
	} else if errors.Is(err, ErrUnknownCommand) {
		r.Code = unknownCommand
	} else {
		r.Code = "unavailable"
		for code, known := range codes {
			if errors.Is(err, known) {
				r.Code = code
				break
			}
		}
	}
	b, _ := json.Marshal(r) // cannot fail for strings and a number
	return b
}

func decodeRefusal(data []byte) error {
	var r refusal
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("%w: cannot decode the refusal of another node", ErrUnavailable)
	}
	if r.Code == unknownCommand {
		return ErrUnknownCommand
	}
	if r.Reason != 0 {
		return &Rejection{Reason: r.Reason, Text: r.Text}
	}
	if err := codes[r.Code]; err != nil {
		return err
	}
	return ErrUnavailable
}
