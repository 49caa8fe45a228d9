package rest

import (
	"slices"
	"unicode/utf8"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/files"
	"atelier/transport/wire"
)

type chatRecord struct {
	ID         string  `json:"id" is:"Id"`
	CodelabID  string  `json:"codelab_id" is:"Id"`
	SenderID   string  `json:"sender_id" is:"Person"`
	SenderName string  `json:"sender_name" doc:"«Facilitator» or the display name of the login for admins."`
	Message    string  `json:"message" length:"1..2000"`
	MsgType    string  `json:"msg_type" enum:"chat|dm|broadcast"`
	TargetID   *string `json:"target_id" is:"Person" doc:"The recipient of a direct message."`
	CreatedAt  string  `json:"created_at" is:"Timestamp"`
	Person     *string `json:"person" doc:"The author behind the shared id «facilitator»: the owner's account, or the id of a person. Null for attendees."`
}

func toChat(lab string, m *pb.ChatMessage) chatRecord {
	kind := "chat"
	switch {
	case m.Broadcast:
		kind = "broadcast"
	case m.TargetId != "":
		kind = "dm"
	}
	return chatRecord{m.Id, lab, m.SenderId, m.SenderName, m.Message, kind, wire.OrNull(m.TargetId), wire.Stamp(m.CreatedAt), wire.OrNull(m.Leader)}
}

// defaultHistory is the default number of messages per page.
const defaultHistory = 500

// getChat returns the newest messages that the caller is allowed to see, oldest first.
func getChat(r *Request) error {
	limit, err := r.number("limit", defaultHistory, 1, 1000)
	if err != nil {
		return err
	}
	v := r.view()
	end := v.Chat.Len()
	if before := r.Query("before"); before != "" {
		at, ok := v.ChatBefore(before)
		if !ok {
			return wire.Invalid("before is not a message of this codelab")
		}
		end = at
	}
	if r.fresh(v.Changed.Chat, r.Caller.ID) {
		return nil
	}
	who := r.Caller.ID
	out := func() any { return history(v, r.Codelab.ID(), who, end, limit) }
	// A default page without direct messages is the same for all people, so the response is cached.
	// After a reconnect, ten thousand people request this page.
	if end == v.Chat.Len() && limit == defaultHistory && !direct(v, end, limit) {
		return r.cached(v.Encoded.Chat, forOthers, out)
	}
	return r.JSON(out())
}

// history returns at most limit messages that a person is allowed to see: the newest before the index
// end, oldest first.
func history(v *codelab.View, lab, who string, end, limit int) []chatRecord {
	out := make([]chatRecord, 0, min(limit, end))
	for i := end - 1; i >= 0 && len(out) < limit; i-- {
		if m := v.Chat.At(i); codelab.Visible(m, who) {
			out = append(out, toChat(lab, m))
		}
	}
	slices.Reverse(out)
	return out
}

// direct reports whether the page contains anyone's direct message. Without a direct message the
// page is the same for everybody.
func direct(v *codelab.View, end, limit int) bool {
	for i := end - 1; i >= max(0, end-limit); i-- {
		if v.Chat.At(i).TargetId != "" {
			return true
		}
	}
	return false
}

func deleteChat(r *Request) error {
	v, err := r.do(codelab.DeleteChat{MessageID: r.Param("message_id")})
	if err != nil {
		return err
	}
	r.release(v.(files.Forgotten))
	return r.NoContent()
}

// MaxRef bounds the client's reference for a message, in code points.
const MaxRef = 64

type directMessagesPostBody struct {
	Message    string  `json:"message" length:"1..2000"`
	To         string  `json:"to" enum:"stuck|waiting|step" doc:"«stuck» is attendees who report that they are stuck. «waiting» is attendees whose help request nobody has claimed. «step» is attendees on «step_number» who have not completed."`
	StepNumber *int32  `json:"step_number,omitempty" null:"true" range:"1.." doc:"An existing step. Required with «step»; otherwise it narrows the audience to the attendees on it."`
	Ref        *string `json:"ref,omitempty" null:"true" length:"..64" doc:"As in messages: if a person sends the same reference within ten minutes, the request is executed once."`
}

// postDirects sends one text to each attendee of an audience.
func postDirects(r *Request) error {
	var in directMessagesPostBody
	if err := r.decode(&in); err != nil {
		return err
	}
	wanted, ref := codelab.PostDirects{Message: in.Message, To: codelab.Audience(in.To)}, ""
	if in.Ref != nil {
		ref = *in.Ref
	}
	switch {
	case utf8.RuneCountInString(ref) > MaxRef:
		return wire.Invalid("ref is longer than %d characters", MaxRef)
	case in.StepNumber != nil && *in.StepNumber < 1: // the command treats 0 as no step
		return wire.Invalid("step_number must be the number of a step")
	case in.StepNumber != nil:
		wanted.StepNumber = *in.StepNumber
	case wanted.To == codelab.ToStep:
		return wire.Invalid("step_number is required")
	}
	v, err := r.ask(codelab.Command{Body: wanted, Ref: ref})
	if err != nil {
		return err
	}
	var out directMessagesPosted
	if done, ok := v.(codelab.DirectsPosted); ok {
		out.Sent = &done.Sent
	}
	return r.JSON(out)
}

type directMessagesPosted struct {
	Sent *int `json:"sent" doc:"The number of recipients; 0 if nobody was in the audience. Null if this «ref» was executed before."`
}
