package messages

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/room"
	"atelier/transport/wire"
)

// The test compares every message with its exact form on the wire.
func TestFrames(t *testing.T) {
	const at, ts = 1_700_000_000_123, `"ts":"2023-11-14T22:13:20.123Z"}`
	help := &pb.HelpRequest{Id: "h", AttendeeId: "a", AttendeeName: "Ann", StepNumber: 2}
	for name, tc := range map[string]struct {
		body     any
		audience room.Audience
		people   [2]string
		want     string
	}{
		"chat": {&pb.Event_ChatPosted{ChatPosted: &pb.ChatPosted{Message: &pb.ChatMessage{Id: "m", SenderId: "a", SenderName: `A"n`, Message: "hi"}}},
			room.Everyone, [2]string{"a"}, `{"type":"chat","sender":"A\"n","message":"hi","id":"m","sender_id":"a","seq":7,` + ts},
		"dm": {&pb.Event_ChatPosted{ChatPosted: &pb.ChatPosted{Message: &pb.ChatMessage{Id: "m", SenderId: "a", SenderName: "Ann", Message: "hi", TargetId: "b"}}},
			room.People, [2]string{"a", "b"}, `{"type":"dm","sender":"Ann","message":"hi","target_id":"b","id":"m","sender_id":"a","seq":7,` + ts},
		"progress": {&pb.Event_Progressed{Progressed: &pb.Progressed{AttendeeId: "a", StepNumber: 3}},
			room.FacilitatorsAndPeople, [2]string{"a"}, `{"type":"step_progress","attendee_id":"a","step_number":3,"seq":7,` + ts},
		"help": {&pb.Event_HelpAsked{HelpAsked: &pb.HelpAsked{Request: help}},
			room.FacilitatorsAndPeople, [2]string{"a"}, `{"type":"help_request","id":"h","attendee_id":"a","attendee_name":"Ann","step_number":2,"status":"pending","seq":7,` + ts},
		"claimed": {&pb.Event_HelpClaimed{HelpClaimed: &pb.HelpClaimed{HelpId: "h", By: "Lea", AttendeeId: "a", AttendeeName: "Ann", StepNumber: 2}},
			room.FacilitatorsAndPeople, [2]string{"a"}, `{"type":"help_claimed","id":"h","attendee_id":"a","attendee_name":"Ann","step_number":2,"status":"in_progress","claimed_by":"Lea","seq":7,` + ts},
		"resolved": {&pb.Event_HelpResolved{HelpResolved: &pb.HelpResolved{HelpId: "h", AttendeeId: "a", AttendeeName: "Ann", StepNumber: 2}},
			room.FacilitatorsAndPeople, [2]string{"a"}, `{"type":"help_resolved","id":"h","attendee_id":"a","attendee_name":"Ann","step_number":2,"status":"resolved","seq":7,` + ts},
		"thread": {&pb.Event_ThreadCreated{ThreadCreated: &pb.ThreadCreated{Thread: &pb.Thread{Id: "t", TargetType: "guide", CreatedBy: "a"}}},
			room.Everyone, [2]string{"a"}, `{"type":"inline_comment_changed","target_type":"guide","target_step_id":null,"thread_id":"t","action":"created","seq":7,` + ts},
		"reply": {&pb.Event_CommentAdded{CommentAdded: &pb.CommentAdded{ThreadId: "t", TargetType: "step", TargetStepId: "s", Comment: &pb.Comment{AuthorId: "a"}}},
			room.Everyone, [2]string{"a"}, `{"type":"inline_comment_changed","target_type":"step","target_step_id":"s","thread_id":"t","action":"replied","seq":7,` + ts},
		"deleted comment": {&pb.Event_CommentDeleted{CommentDeleted: &pb.CommentDeleted{ThreadId: "t", TargetType: "step", TargetStepId: "s"}},
			room.Everyone, [2]string{}, `{"type":"inline_comment_changed","target_type":"step","target_step_id":"s","thread_id":"t","action":"deleted","seq":7,` + ts},
		"comments gone": {&pb.Event_CommentsGone{CommentsGone: &pb.CommentsGone{ThreadId: "t", TargetType: "guide"}},
			room.Everyone, [2]string{}, `{"type":"inline_comment_changed","target_type":"guide","target_step_id":null,"thread_id":"t","action":"deleted","seq":7,` + ts},
		"completed": {&pb.Event_Completed{Completed: &pb.Completed{AttendeeId: "a"}},
			room.FacilitatorsAndPeople, [2]string{"a"}, `{"type":"attendee_completed","attendee_id":"a","seq":7,` + ts},
		"renamed": {&pb.Event_Renamed{Renamed: &pb.Renamed{AttendeeId: "a", Name: "Anna"}},
			room.FacilitatorsAndPeople, [2]string{"a"}, `{"type":"attendee_renamed","attendee_id":"a","name":"Anna","seq":7,` + ts},
		"muted": {&pb.Event_Muted{Muted: &pb.Muted{AttendeeId: "a", Muted: true}},
			room.FacilitatorsAndPeople, [2]string{"a"}, `{"type":"attendee_muted","attendee_id":"a","muted":true,"seq":7,` + ts},
		"broadcast": {&pb.Event_ChatPosted{ChatPosted: &pb.ChatPosted{Message: &pb.ChatMessage{Id: "m", SenderId: "facilitator", SenderName: "Lea", Message: "hi", Broadcast: true}}},
			room.Everyone, [2]string{"facilitator"}, `{"type":"broadcast","id":"m","sender_id":"facilitator","sender_name":"Lea","message":"hi","seq":7,` + ts},
		"note": {&pb.Event_ChatPosted{ChatPosted: &pb.ChatPosted{Message: &pb.ChatMessage{Id: "m", SenderId: "facilitator", SenderName: "Lea", Message: "hi", TargetId: "facilitator"}}},
			room.People, [2]string{"facilitator", "facilitator"}, `{"type":"dm","sender":"Lea","message":"hi","target_id":"facilitator","id":"m","sender_id":"facilitator","seq":7,` + ts},
		"message gone": {&pb.Event_ChatGone{ChatGone: &pb.ChatGone{MessageId: "m"}}, room.Everyone, [2]string{}, `{"type":"chat_deleted","id":"m","seq":7,` + ts},
		"pulse": {&pb.Event_Pulsed{Pulsed: &pb.Pulsed{AttendeeId: "a", AttendeeName: "Ann", State: pb.PulseState_PULSE_STATE_STUCK, StepNumber: 2, StepId: "s"}},
			room.FacilitatorsAndPeople, [2]string{"a"}, `{"type":"pulse","attendee_id":"a","attendee_name":"Ann","state":"stuck","step_number":2,"seq":7,` + ts},
		"pulse over": {&pb.Event_Pulsed{Pulsed: &pb.Pulsed{AttendeeId: "a", AttendeeName: "Ann", StepNumber: 3}},
			room.FacilitatorsAndPeople, [2]string{"a"}, `{"type":"pulse","attendee_id":"a","attendee_name":"Ann","state":null,"step_number":3,"seq":7,` + ts},
		"tick": {&pb.Event_Ticked{Ticked: &pb.Ticked{AttendeeId: "a", StepId: "s", Item: "i", Done: true}},
			room.People, [2]string{"a"}, `{"type":"tick","step_id":"s","item":"i","done":true,"seq":7,` + ts},
		"pin":    {&pb.Event_Pinned{Pinned: &pb.Pinned{Message: "p"}}, room.Everyone, [2]string{}, `{"type":"pin_changed","pin":{"message":"p","at":"2023-11-14T22:13:20.123Z"},"seq":7,` + ts},
		"no pin": {&pb.Event_Pinned{Pinned: &pb.Pinned{}}, room.Everyone, [2]string{}, `{"type":"pin_changed","pin":null,"seq":7,` + ts},
		"pointer": {&pb.Event_Pointed{Pointed: &pb.Pointed{Pointer: &pb.Pointer{StepNumber: 2, StepId: "s", By: "Lea", Hints: true}}},
			room.Everyone, [2]string{}, `{"type":"pointer","step_number":2,"hints":true,"by":"Lea","seq":7,` + ts},
		"no pointer": {&pb.Event_Pointed{Pointed: &pb.Pointed{Pointer: &pb.Pointer{By: "Lea"}}}, room.Everyone, [2]string{}, `{"type":"pointer","step_number":null,"hints":false,"by":"Lea","seq":7,` + ts},
		"offered": {&pb.Event_HelpOffered{HelpOffered: &pb.HelpOffered{Request: &pb.HelpRequest{Id: "h", AttendeeId: "a", AttendeeName: "Ann", StepNumber: 2, ClaimedBy: "Lea", Message: "m"}}},
			room.FacilitatorsAndPeople, [2]string{"a"}, `{"type":"help_claimed","id":"h","attendee_id":"a","attendee_name":"Ann","step_number":2,"status":"in_progress","claimed_by":"Lea","message":"m","seq":7,` + ts},
		"steps":   {&pb.Event_StepsReplaced{StepsReplaced: &pb.StepsReplaced{}}, room.Everyone, [2]string{}, `{"type":"steps_changed","seq":7,` + ts},
		"codelab": {&pb.Event_Updated{Updated: &pb.Updated{}}, room.Everyone, [2]string{}, `{"type":"codelab_changed","seq":7,` + ts},
		"gone":    {&pb.Event_Deleted{Deleted: &pb.Deleted{}}, room.Everyone, [2]string{}, `{"type":"codelab_deleted","seq":7,` + ts},
	} {
		e := &pb.Event{At: at}
		setBody(e, tc.body)
		f, ok := Frames{}.Encode(7, e)
		if !ok || string(f.Payload) != tc.want || f.Audience != tc.audience || f.People != tc.people || f.Seq != 7 {
			t.Errorf("%s: got %v %v\n %s\nwant\n %s", name, f.Audience, f.People, f.Payload, tc.want)
		}
	}
	if _, ok := (Frames{}).Encode(1, &pb.Event{Body: &pb.Event_Registered{Registered: &pb.Registered{Attendee: &pb.Attendee{}}}}); ok {
		t.Error("a registration must not produce a stored frame")
	}
}

// setBody sets an event's body. It needs a type switch, because the field's type is not exported.
func setBody(e *pb.Event, body any) {
	switch b := body.(type) {
	case *pb.Event_ChatPosted:
		e.Body = b
	case *pb.Event_ChatGone:
		e.Body = b
	case *pb.Event_CommentsGone:
		e.Body = b
	case *pb.Event_Pulsed:
		e.Body = b
	case *pb.Event_Pinned:
		e.Body = b
	case *pb.Event_Pointed:
		e.Body = b
	case *pb.Event_HelpOffered:
		e.Body = b
	case *pb.Event_Progressed:
		e.Body = b
	case *pb.Event_HelpAsked:
		e.Body = b
	case *pb.Event_HelpClaimed:
		e.Body = b
	case *pb.Event_HelpResolved:
		e.Body = b
	case *pb.Event_ThreadCreated:
		e.Body = b
	case *pb.Event_CommentAdded:
		e.Body = b
	case *pb.Event_CommentDeleted:
		e.Body = b
	case *pb.Event_Completed:
		e.Body = b
	case *pb.Event_StepsReplaced:
		e.Body = b
	case *pb.Event_Renamed:
		e.Body = b
	case *pb.Event_Muted:
		e.Body = b
	case *pb.Event_Ticked:
		e.Body = b
	case *pb.Event_Updated:
		e.Body = b
	case *pb.Event_Deleted:
		e.Body = b
	default:
		panic("unknown body")
	}
}

func TestParse(t *testing.T) {
	for payload, want := range map[string]string{
		`{"type":"chat","message":"hi","ref":"r"}`: "",
		`{"type":"chat"`:          "not valid JSON",
		`[]`:                      "object",
		`{"message":"hi"}`:        "type is required",
		`{"type":"chat","ref":5}`: "ref must be a string",
		`{"type":"chat","ref":"` + strings.Repeat("é", 65) + `"}`: "ref is longer",
		`{"type":"step_progress","step_number":"2"}`:              "step_number must be an integer",
		`{"type":"pulse","state":null}`:                           "",
		`{"type":"pulse","state":1}`:                              "state must be a string",
		`{"type":"pointer","step_number":1,"hints":1}`:            "hints must be a boolean",
		"{\"type\":\"chat\",\"message\":\"\xff\"}":                "UTF-8",
	} {
		_, err := parse([]byte(payload))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("parsing %.60s returned %v, want %q", payload, err, want)
		}
	}
	if m, err := parse([]byte(`{"type":"chat","message":5,"ref":"keep"}`)); err == nil || m.ref() != "keep" {
		t.Errorf("the ref of a refused message is lost: %v, %v", m.ref(), err)
	}
}

func TestAClaimedSenderIsOverwritten(t *testing.T) {
	b, err := stamped([]byte(`{"type":"webrtc_signal","sender":"facilitator","sender_id":"facilitator","attendee_id":"x","seq":9,"sdp":"s"}`),
		&codelab.Caller{Role: codelab.RoleAttendee, ID: "a"}, "Ann")
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := wire.Codec.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if m["sender"] != "Ann" || m["sender_id"] != "a" || m["attendee_id"] != "a" || m["seq"] != nil || m["sdp"] != "s" {
		t.Fatalf("the stamped message is %v", m)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"type":"chat","message":"hi","ref":"r"}`, `{"type":"dm","target_id":"x","message":"m"}`, `{"type":"step_progress","step_number":3}`,
		`{"type":"pulse","state":"slow"}`, `{"type":"pointer","step_number":null,"hints":true}`, `{"type":"broadcast","message":"m"}`,
		`{"type":"tick","step_id":"s","item":"8b12507783d5beca","done":true}`,
		`{"type":"webrtc_signal","a":{"b":[1,2]}}`, `{"type":null}`, `{"ref":{}}`, "[[[[",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parse(b)
		if err != nil {
			if err.Error() == "" || !utf8.ValidString(err.Error()) {
				t.Fatalf("the error is not readable: %q", err.Error())
			}
			return
		}
		wanted, err := m.wanted()
		if err == nil && wanted != nil {
			sent := codelab.Command{Ref: m.ref(), Body: wanted}
			var got codelab.Command
			b, err := codelab.Codec.Encode(sent)
			if err == nil {
				got, err = codelab.Codec.Decode(b)
			}
			if err != nil || !reflect.DeepEqual(got, sent) {
				t.Fatalf("%v: a command changed when encoded: sent %+v, got %+v", err, sent, got)
			}
		}
		if clientMessages[m.Type].relayed {
			if out, err := stamped(b, &codelab.Caller{ID: "a"}, "n"); err == nil && !utf8.Valid(out) {
				t.Fatal("relayed text is not UTF-8")
			}
		}
	})
}

// A client repeats a message only if that can help.
func TestOnlyTemporaryErrorsAdviseARetry(t *testing.T) {
	for err, again := range map[error]bool{durable.ErrTooLarge: false, durable.ErrInternal: false, durable.ErrTimeout: true} {
		if text := textOf(fmt.Errorf("write: %w", err)); strings.Contains(text, "try again") != again {
			t.Errorf("the text for %v is %q", err, text)
		}
	}
}
