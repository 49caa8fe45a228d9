package rest

import (
	"math"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

type commentRecord struct {
	ID         string  `json:"id" is:"Id"`
	ThreadID   string  `json:"thread_id" is:"Id"`
	CodelabID  string  `json:"codelab_id" is:"Id"`
	AuthorRole string  `json:"author_role" enum:"attendee|admin"`
	AuthorID   string  `json:"author_id" is:"Person"`
	AuthorName string  `json:"author_name"`
	Message    string  `json:"message" length:"1..2000"`
	CreatedAt  string  `json:"created_at" is:"Timestamp"`
	Person     *string `json:"person" doc:"The author behind the shared id «facilitator»: the owner's account, or the id of a person. Null for attendees."`
}

type threadRecord struct {
	ID           string          `json:"id" is:"Id"`
	CodelabID    string          `json:"codelab_id" is:"Id"`
	AnchorKey    string          `json:"anchor_key" length:"..512"`
	TargetType   string          `json:"target_type" enum:"step|guide"`
	TargetStepID *string         `json:"target_step_id" is:"Id" doc:"null for the guide."`
	StartOffset  int32           `json:"start_offset" doc:"UTF-16 offset in the rendered text."`
	EndOffset    int32           `json:"end_offset" range:"1.." doc:"Exclusive."`
	SelectedText string          `json:"selected_text" length:"1..2000"`
	ContentHash  string          `json:"content_hash" length:"1..128" doc:"The client's hash of the displayed content. Opaque to the server."`
	CreatedBy    string          `json:"created_by_attendee_id" pattern:"^(|facilitator|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$" doc:"The author of the thread. Empty if the author was removed and the thread contains messages of others."`
	CreatedAt    string          `json:"created_at" is:"Timestamp"`
	Stale        bool            `json:"stale" doc:"The text has changed since the thread was created. Nobody can reply, and the range is available for a new thread."`
	Messages     []commentRecord `json:"messages" items:"1.."`
}

func toThread(lab string, t *pb.Thread, stale bool) threadRecord {
	out := threadRecord{
		t.Id, lab, t.AnchorKey, t.TargetType, wire.OrNull(t.TargetStepId), t.StartOffset, t.EndOffset, t.SelectedText,
		t.ContentHash, t.CreatedBy, wire.Stamp(t.CreatedAt), stale, make([]commentRecord, len(t.Messages)),
	}
	for i, m := range t.Messages {
		out.Messages[i] = commentRecord{m.Id, t.Id, lab, m.AuthorRole, m.AuthorId, m.AuthorName, m.Message, wire.Stamp(m.CreatedAt), wire.OrNull(m.Leader)}
	}
	return out
}

func getThreads(r *Request) error {
	target, step := r.Query("target_type"), r.Query("target_step_id")
	if target != "" && target != codelab.TargetStep && target != codelab.TargetGuide {
		return wire.Invalid("target_type must be step or guide")
	}
	v := r.view()
	if r.fresh(v.Changed.Threads, target+"-"+tagSafe(step)) {
		return nil
	}
	out := func() any {
		out := []threadRecord{}
		for _, t := range v.Threads.All() {
			if (target == "" || t.TargetType == target) && (step == "" || target == codelab.TargetGuide || t.TargetStepId == step) {
				out = append(out, toThread(r.Codelab.ID(), t, v.Stale(t)))
			}
		}
		return out
	}
	if target == "" && step == "" {
		return r.cached(v.Encoded.Threads, forOthers, out)
	}
	return r.JSON(out())
}

// tagSafe makes a query value safe for an entity tag.
func tagSafe(s string) string {
	b := []byte(s[:min(len(s), 64)])
	for i, c := range b {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-') {
			b[i] = '_'
		}
	}
	return string(b)
}

type annotateBody struct {
	AnchorKey    *string `json:"anchor_key" length:"1..512" doc:"«step|<step id>|<content_hash>|<start>|<end>», which must agree with the other fields, or «guide|guide|<hash>|<start>|<end>»."`
	TargetType   *string `json:"target_type" enum:"step|guide"`
	TargetStepID *string `json:"target_step_id,omitempty" null:"true" doc:"The step. Null, or omitted, for the guide."`
	StartOffset  *int64  `json:"start_offset" range:"0..2147483646" doc:"UTF-16 offset in the rendered text."`
	EndOffset    *int64  `json:"end_offset" range:"1..2147483647" doc:"Exclusive, greater than «start_offset»."`
	SelectedText *string `json:"selected_text" length:"1..2000"`
	ContentHash  *string `json:"content_hash" length:"1..128"`
	Message      *string `json:"message" length:"1..2000" doc:"Stored as sent."`
}

func annotate(r *Request) error {
	var in annotateBody
	if err := r.decode(&in); err != nil {
		return err
	}
	if *in.StartOffset < 0 || *in.EndOffset > math.MaxInt32 || *in.StartOffset >= *in.EndOffset {
		return wire.Invalid("start_offset must be at least 0 and less than end_offset")
	}
	return r.answerThread(codelab.Annotate{
		AnchorKey: *in.AnchorKey, TargetType: *in.TargetType, TargetStepID: or(in.TargetStepID, ""),
		StartOffset: int32(*in.StartOffset), EndOffset: int32(*in.EndOffset),
		SelectedText: *in.SelectedText, ContentHash: *in.ContentHash, Message: *in.Message,
	})
}

type replyBody struct {
	Message     *string `json:"message" length:"1..2000" doc:"Stored as sent."`
	ContentHash *string `json:"content_hash" length:"1..128" doc:"Must be the thread's hash."`
}

func replyToThread(r *Request) error {
	var in replyBody
	if err := r.decode(&in); err != nil {
		return err
	}
	return r.answerThread(codelab.Reply{
		ThreadID: r.Param("thread_id"), Message: *in.Message, ContentHash: *in.ContentHash,
	})
}

func (r *Request) answerThread(b codelab.Body) error {
	v, err := r.do(b)
	if err != nil {
		return err
	}
	t := v.(*pb.Thread)
	return r.JSON(toThread(r.Codelab.ID(), t, r.Codelab.View().Stale(t)))
}

type commentDeleted struct {
	Status        string `json:"status" const:"ok"`
	ThreadDeleted bool   `json:"thread_deleted" doc:"The deleted message was the last of its thread."`
}

func deleteComment(r *Request) error {
	v, err := r.do(codelab.DeleteComment{
		ThreadID: r.Param("thread_id"), CommentID: r.Param("comment_id"),
	})
	if err != nil {
		return err
	}
	deletion := v.(codelab.CommentDeletion)
	r.release(deletion.Files)
	return r.JSON(commentDeleted{"ok", deletion.ThreadDeleted})
}
