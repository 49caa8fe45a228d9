package rest

import (
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

type chatRecord struct {
	ID         string  `json:"id"`
	CodelabID  string  `json:"codelab_id"`
	SenderID   string  `json:"sender_id"`
	SenderName string  `json:"sender_name"`
	Message    string  `json:"message"`
	MsgType    string  `json:"msg_type"`
	TargetID   *string `json:"target_id"`
	CreatedAt  string  `json:"created_at"`
}

func toChat(lab string, m *pb.ChatMessage) chatRecord {
	kind := "chat"
	if m.TargetId != "" {
		kind = "dm"
	}
	return chatRecord{m.Id, lab, m.SenderId, m.SenderName, m.Message, kind, wire.OrNull(m.TargetId), wire.Stamp(m.CreatedAt)}
}

// getChat answers the newest messages that the caller may see, oldest first.
func getChat(r *Request) error {
	limit, err := r.number("limit", 500, 1, 1000)
	if err != nil {
		return err
	}
	v := r.view()
	end := v.Chat.Len()
	if before := r.Query("before"); before != "" {
		at, ok := v.ChatBefore(before)
		if !ok {
			return wire.Invalid("before is no message of this codelab")
		}
		end = at
	}
	if r.fresh(v.Changed.Chat, r.Caller.Id) {
		return nil
	}
	out := make([]chatRecord, 0, min(limit, end))
	for i := end - 1; i >= 0 && len(out) < limit; i-- {
		if m := v.Chat.At(i); visible(m, r.Caller.Id) {
			out = append(out, toChat(r.Lab.ID(), m))
		}
	}
	slices.Reverse(out)
	return r.json(out)
}

// visible: a direct message is for its two ends only.
func visible(m *pb.ChatMessage, who string) bool {
	return m.TargetId == "" || m.SenderId == who || m.TargetId == who
}

func deleteChat(r *Request) error {
	id := r.Param("message_id")
	// Direct messages between attendees are nothing an admin sees.
	if m := r.Lab.View().ChatMessage(id); m != nil && !visible(m, codelab.FacilitatorID) {
		return &statusError{status: 404, text: "message not found"}
	}
	if _, err := r.do(&pb.Command{Body: &pb.Command_DeleteChat{DeleteChat: &pb.DeleteChat{MessageId: id}}}); err != nil {
		return err
	}
	return r.noContent()
}
