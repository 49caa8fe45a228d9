package messages

import (
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

// This file contains the messages to one session about its connection or its requests, and to
// facilitators about presence. They are not stored events.

type ackMessage struct {
	Type string  `json:"type"`
	Ref  *string `json:"ref" is:"ref come back" doc:"Null only in the response to POST /codelabs/{id}/messages without a ref."`
	Seq  uint64  `json:"seq" is:"Position" doc:"The seq of the stored event. For messages that are not stored, the current position."`
}

func ack(ref string, seq uint64) []byte {
	return encode(ackMessage{"ack", wire.OrNull(ref), seq})
}

type errorMessage struct {
	Type  string `json:"type"`
	Error string `json:"error" is:"reason for an error"`
	Ref   string `json:"ref,omitempty" is:"Ref"`
}

func failure(ref, text string) []byte {
	return encode(errorMessage{"error", text, ref})
}

type you struct {
	ID   string `json:"id" is:"Person"`
	Name string `json:"name"`
	Role string `json:"role" is:"role"`
}

// Roles in a codelab.
const (
	roleAdmin    = "admin"
	roleAttendee = "attendee"
)

type welcomeMessage struct {
	Type  string `json:"type"`
	Epoch string `json:"epoch" doc:"The id of the stream. It survives restarts and changes only when the stream cannot continue."`
	Seq   uint64 `json:"seq" is:"Position" doc:"The position from which the stream continues on this connection."`
	Head  uint64 `json:"head" is:"Position" doc:"The end of the stream. The frames before it are replayed next."`
	You   you    `json:"you"`
	Now   string `json:"now" is:"Timestamp" doc:"The server's time. Clients measure timers against it."`
}

// welcome returns the message with the position at which the stream continues for this session, and
// with the head of the stream. The frames between them are replayed next.
func welcome(epoch string, seq, head uint64, who you, now time.Time) []byte {
	return encode(welcomeMessage{"welcome", epoch, seq, head, who, wire.Stamp(now.UnixMilli())})
}

type resyncMessage struct {
	Type   string `json:"type"`
	Epoch  string `json:"epoch"`
	Seq    uint64 `json:"seq" is:"Position"`
	Reason string `json:"reason" is:"reason for a resync"`
}

func resync(epoch string, seq uint64, reason string) []byte {
	return encode(resyncMessage{"resync", epoch, seq, reason})
}

type reconnectMessage struct {
	Type    string `json:"type"`
	AfterMS int    `json:"after_ms"`
}

// Reconnect returns the message that asks a client, before the server stops, to reconnect after a
// delay in milliseconds.
func Reconnect(afterMS int) []byte {
	return encode(reconnectMessage{"reconnect", afterMS})
}

type presentAttendee struct {
	ID          string `json:"id" is:"Id"`
	Name        string `json:"name"`
	CurrentStep int32  `json:"current_step" is:"StepNumber"`
	Place       string `json:"place,omitempty" is:"place"`
}

type presenceMessage struct {
	Type     string          `json:"type"`
	Attendee presentAttendee `json:"attendee"`
}

func presence(kind string, a *pb.Attendee) []byte {
	return encode(presenceMessage{kind, presentAttendee{a.Id, a.Name, a.CurrentStep, a.Place}})
}
