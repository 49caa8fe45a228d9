package messages

import (
	"fmt"

	"atelier/actors/codelab"
	"atelier/transport/describe"
	"atelier/transport/live"
	"atelier/transport/rest"
)

const uuid7 = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"

// member is the schema of a message's member, under the name in its tag. Schemas with capitalized
// names are components of the document; others are inlined.
type member struct {
	name string
	describe.Schema
}

// members contains the schemas to which tags refer. Most of their bounds and enums come from the
// packages that check them.
var members = []member{
	{"Id", describe.Schema{Type: "string", Pattern: "^" + uuid7 + "$", Description: "A UUID of version 7, lower case."}},
	{"Person", describe.Schema{
		Type: "string", Pattern: fmt.Sprintf("^(%s|%s)$", codelab.FacilitatorID, uuid7),
		Description: fmt.Sprintf("The id of an attendee, or `%s` for any admin.", codelab.FacilitatorID),
	}},
	{"Seq", describe.Schema{
		Type: "integer", Minimum: new(1),
		Description: "The event's position in the codelab's stream. It strictly increases, with gaps for a session, because not every event is for everybody.",
	}},
	{"Position", describe.Schema{Type: "integer", Minimum: new(0), Description: "A position in the codelab's stream."}},
	{"Timestamp", describe.Schema{Type: "string", Pattern: `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`, Description: "RFC 3339, UTC, milliseconds."}},
	{"Ref", describe.Schema{
		Type: "string", MinLength: 1, MaxLength: rest.MaxRef,
		Description: "The client's own reference, repeated in the ack or the error.",
	}},
	{"StepNumber", describe.Schema{Type: "integer", Minimum: new(1)}},
	{"Text", describe.Schema{Type: "string", MinLength: 1, MaxLength: codelab.Bounds.Message, Description: "In code points. Stored as sent."}},
	{"Task", describe.Schema{
		Type: "string", Pattern: "^[0-9a-f]{16}(-[0-9]{1,3})?$",
		Description: "A task of a step: the first 16 hex digits of the SHA-256 of its text, with `-2` and so on for the same text again.",
	}},
	{"PulseState", describe.Schema{
		Type: []string{"string", "null"}, Enum: append(anyOf(rest.PulseStates...), nil),
		Description: "How an attendee is doing on the step. Null if not reported.",
	}},
	{"Pin", describe.Schema{Of: pin{}}},
	{"Pulses", describe.Schema{Of: rest.Pulses{}, Description: "The number of attendees."}},

	{"PollWord", describe.Schema{Of: rest.WordRecord{}, Description: "A word and the number of people who entered it."}},
	{"Poll", describe.Schema{Of: rest.PollRecord{}, Description: "A question to all attendees."}},
	{"Question", describe.Schema{Of: rest.QuestionRecord{}, Description: "A question of an attendee to all."}},
	{"Timer", describe.Schema{Of: rest.TimerRecord{}, Description: "The timer of an exercise or a break."}},

	{"kind of a spotlight, or null", describe.Schema{Type: []string{"string", "null"}, Enum: append(anyOf(rest.Spotlights...), nil)}},
	{"votes of questions", describe.Schema{Type: "object", Description: "The number of votes, by the id of the question.", Open: &describe.Schema{Type: "integer", Minimum: new(0)}}},
	{"facilitator", describe.Schema{Type: "string", Const: codelab.FacilitatorID}},
	{"role", describe.Schema{Type: "string", Enum: anyOf(roleAdmin, roleAttendee)}},
	{"reason for help", describe.Schema{Type: "string", MinLength: 1, MaxLength: codelab.Bounds.HelpMessage}},
	{"name of a check", describe.Schema{Type: "string", Description: "The name that a step declares.", MinLength: 1, MaxLength: 64}},
	{"note of a check", describe.Schema{Type: "string", Description: "An additional text from the program; often empty.", MaxLength: codelab.Bounds.CheckNote}},
	{"reports of a check", describe.Schema{Type: "integer", Description: "The number of the attendee's reports, including this one.", Minimum: new(0)}},
	{"place", describe.Schema{Type: "string", Description: "The attendee's seat, in their own words.", MinLength: 1, MaxLength: codelab.Bounds.Place}},
	{"person who leads", describe.Schema{Type: "string", Description: "The person behind the shared id `facilitator`: the owner's account, or the id of a person."}},
	{"status while it is open", describe.Schema{Type: "string", Enum: anyOf(rest.HelpPending, rest.HelpInProgress)}},
	{"status once it is claimed", describe.Schema{Type: "string", Const: rest.HelpInProgress}},
	{"status once it is resolved", describe.Schema{Type: "string", Const: rest.HelpResolved}},
	{"target of a thread", describe.Schema{Type: "string", Enum: anyOf(codelab.TargetStep, codelab.TargetGuide)}},
	{"change of a thread", describe.Schema{Type: "string", Enum: anyOf(threadCreated, threadReplied, threadDeleted)}},
	{"ref come back", describe.Schema{Type: "string", MaxLength: rest.MaxRef}},
	{"reason for an error", describe.Schema{Type: "string", MinLength: 1}},
	{"reason for a resync", describe.Schema{
		Type: "string", Enum: anyOf(live.ResyncNames()...),
		Description: "`epoch`: the position belongs to another stream. `window`: it is older than the replay window, or was never reached. " +
			"`overtaken`, `bytes`, `time`: this connection read too slowly.",
	}},
}

func anyOf(names ...string) (list []any) {
	for _, n := range names {
		list = append(list, n)
	}
	return list
}
