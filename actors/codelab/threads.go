package codelab

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// Kinds of anchors of a thread.
const (
	TargetStep  = "step"
	TargetGuide = "guide"
)

// Annotate creates a thread on a text range, or appends a comment to the thread with this anchor
// (transport/rest/RULES.md, "Comments on the text").
type Annotate struct {
	AnchorKey    string
	TargetType   string
	TargetStepID string
	StartOffset  int32
	EndOffset    int32
	SelectedText string
	ContentHash  string
	Message      string
}

func (a Annotate) decide(c call) (decision, error) {
	if err := c.speak(); err != nil {
		return decision{}, err
	}
	content, err := c.checkAnnotation(a)
	if err != nil {
		return decision{}, err
	}
	if i, ok := c.s.byAnchor[a.AnchorKey]; ok {
		return c.appendTo(c.s.threads.At(i), a.Message)
	}
	for _, t := range c.s.threads.All() {
		if t.TargetType == a.TargetType && t.TargetStepId == a.TargetStepID && !c.s.stale(t) &&
			a.StartOffset < t.EndOffset && a.EndOffset > t.StartOffset {
			return decision{}, durable.Reject(durable.Invalid, "overlapping highlight: another thread marks part of this range")
		}
	}
	if c.s.threads.Len() >= maxThreads {
		return decision{}, durable.Reject(durable.Conflict, "this codelab has too many threads")
	}
	now := c.now.UnixMilli()
	id := c.id()
	t := &pb.Thread{
		Id: id, AnchorKey: a.AnchorKey, TargetType: a.TargetType, TargetStepId: a.TargetStepID,
		StartOffset: a.StartOffset, EndOffset: a.EndOffset, SelectedText: a.SelectedText, ContentHash: a.ContentHash,
		CreatedBy: c.ID, CreatedAt: now, ContentSum: content, Messages: []*pb.Comment{c.comment(a.Message)},
	}
	d := decided(t, &pb.Event{Body: &pb.Event_ThreadCreated{ThreadCreated: &pb.ThreadCreated{Thread: t}}})
	d.Rows = c.talkRows(a.Message)
	return d, nil
}

// checkAnnotation checks the fields of a, and returns the server's hash of the target's current
// text.
func (c call) checkAnnotation(a Annotate) ([]byte, error) {
	bad := func(format string, args ...any) ([]byte, error) {
		return nil, durable.Reject(durable.Invalid, format, args...)
	}
	for _, f := range []struct {
		name, value string
		most        int
	}{
		{"anchor_key", a.AnchorKey, 512}, {"content_hash", a.ContentHash, 128},
		{"selected_text", a.SelectedText, 2000}, {"message", a.Message, maxMessage},
	} {
		if err := text(f.name, f.value, 1, f.most); err != nil {
			return nil, err
		}
	}
	if a.StartOffset < 0 || a.EndOffset <= a.StartOffset {
		return bad("start_offset must be at least 0 and less than end_offset")
	}
	switch a.TargetType {
	case TargetGuide:
		if a.TargetStepID != "" {
			return bad("target_step_id must be null for the guide")
		}
		if !strings.HasPrefix(a.AnchorKey, "guide|") {
			return bad("anchor_key of the guide starts with guide|")
		}
		return c.s.meta.GuideSum, nil
	case TargetStep:
		want := strings.Join([]string{
			"step", a.TargetStepID, a.ContentHash,
			strconv.Itoa(int(a.StartOffset)), strconv.Itoa(int(a.EndOffset)),
		}, "|")
		if a.AnchorKey != want {
			return bad("anchor_key does not agree with the other fields")
		}
		st := c.s.stepByID(a.TargetStepID)
		if st == nil {
			return bad("target_step_id is not a step of this codelab")
		}
		return st.ContentSum, nil
	}
	return bad("target_type must be step or guide")
}

func (c call) comment(message string) *pb.Comment {
	role := "attendee"
	if c.admin() {
		role = "admin"
	}
	return &pb.Comment{
		Id: c.id(), AuthorRole: role, AuthorId: c.ID, AuthorName: c.name(), Message: message, CreatedAt: c.now.UnixMilli(),
		Leader: c.leader(),
	}
}

func (c call) appendTo(t *pb.Thread, message string) (decision, error) {
	if len(t.Messages) >= maxThreadMessages {
		return decision{}, durable.Reject(durable.Conflict, "this thread is full")
	}
	m := c.comment(message)
	d := decided(withComment(t, m), &pb.Event{Body: &pb.Event_CommentAdded{CommentAdded: &pb.CommentAdded{
		ThreadId: t.Id, TargetType: t.TargetType, TargetStepId: t.TargetStepId, Comment: m,
	}}})
	d.Rows = c.talkRows(message)
	return d, nil
}

func withComment(t *pb.Thread, m *pb.Comment) *pb.Thread {
	out := shallow(t)
	out.Messages = append(slices.Clip(t.Messages), m)
	return out
}

// shallow copies a thread. The copy shares the messages.
func shallow(t *pb.Thread) *pb.Thread {
	return &pb.Thread{
		Id: t.Id, AnchorKey: t.AnchorKey, TargetType: t.TargetType, TargetStepId: t.TargetStepId,
		StartOffset: t.StartOffset, EndOffset: t.EndOffset, SelectedText: t.SelectedText, ContentHash: t.ContentHash,
		CreatedBy: t.CreatedBy, CreatedAt: t.CreatedAt, ContentSum: t.ContentSum, Messages: t.Messages,
	}
}

// Reply adds a comment to a thread.
type Reply struct {
	ThreadID    string
	Message     string
	ContentHash string
}

func (r Reply) decide(c call) (decision, error) {
	if err := c.speak(); err != nil {
		return decision{}, err
	}
	if err := text("message", r.Message, 1, maxMessage); err != nil {
		return decision{}, err
	}
	if err := text("content_hash", r.ContentHash, 1, 128); err != nil {
		return decision{}, err
	}
	t, err := named(&c.s.threads, r.ThreadID, (*pb.Thread).GetId, "thread")
	if err != nil {
		return decision{}, err
	}
	if c.s.stale(t) || r.ContentHash != t.ContentHash {
		return decision{}, durable.Reject(durable.Invalid, "this thread is stale: the text has changed since")
	}
	return c.appendTo(t, r.Message)
}

// CommentDeletion is the reply to a DeleteComment command.
type CommentDeletion struct {
	ThreadDeleted bool
	// Files lists the uploads that no other comment and no chat message
	// mentions.
	Files files.Forgotten
}

// DeleteComment removes a comment. With the last comment, it also removes the thread.
type DeleteComment struct {
	ThreadID  string
	CommentID string
}

func (b DeleteComment) decide(c call) (decision, error) {
	t, err := named(&c.s.threads, b.ThreadID, (*pb.Thread).GetId, "thread")
	if err != nil {
		return decision{}, err
	}
	at := slices.IndexFunc(t.Messages, func(m *pb.Comment) bool { return m.Id == b.CommentID })
	if at < 0 {
		return decision{}, durable.Reject(durable.Missing, "comment not found")
	}
	m := t.Messages[at]
	own := m.AuthorId == c.ID
	if !own && (!c.admin() || c.s.rules.AuthorOnlyDeletes) {
		return decision{}, durable.Reject(durable.Forbidden, "only the author can delete this comment")
	}
	last := len(t.Messages) == 1
	dropped, rows := c.untalk(noMessage, func(_ *pb.Thread, other *pb.Comment) bool { return other.Id == m.Id })
	d := decided(CommentDeletion{ThreadDeleted: last, Files: files.Forgotten{Uploads: dropped}}, &pb.Event{Body: &pb.Event_CommentDeleted{CommentDeleted: &pb.CommentDeleted{
		ThreadId: t.Id, TargetType: t.TargetType, TargetStepId: t.TargetStepId, CommentId: m.Id, ThreadDeleted: last,
	}}})
	if !own {
		d.Rows = c.auditOf(m.AuthorId, "comment_delete", m.Id, map[string]string{"author_id": m.AuthorId, "thread_id": t.Id})
	}
	d.Rows = append(d.Rows, rows...)
	return d, nil
}

// stale reports whether the text that a thread is about has changed since the thread was created.
func (s *State) stale(t *pb.Thread) bool {
	if t.TargetType == TargetGuide {
		return !bytes.Equal(t.ContentSum, s.meta.GuideSum)
	}
	st := s.stepByID(t.TargetStepId)
	return st == nil || !bytes.Equal(t.ContentSum, st.ContentSum)
}

func (s *State) stepByID(id string) *pb.Step {
	for _, st := range s.steps {
		if st.Id == id {
			return st
		}
	}
	return nil
}

// commentsGone returns notices about the newest threads with comments of a removed person, see
// chatGone.
func (c call) commentsGone(person string) (out []*pb.Event) {
	for i := c.s.threads.Len() - 1; i >= 0 && len(out) < maxGone; i-- {
		t := c.s.threads.At(i)
		if slices.ContainsFunc(t.Messages, func(m *pb.Comment) bool { return m.AuthorId == person }) {
			out = append(out, &pb.Event{Body: &pb.Event_CommentsGone{CommentsGone: &pb.CommentsGone{
				ThreadId: t.Id, TargetType: t.TargetType, TargetStepId: t.TargetStepId,
			}}})
		}
	}
	return out
}

func (s *State) applyThread(seq uint64, t *pb.Thread) {
	s.byAnchor[t.AnchorKey] = s.threads.Len()
	s.threads.Append(t)
	s.seen(t.Id)
	s.seen(t.Messages[0].Id)
	s.changed.Threads = seq
}

func (s *State) applyComment(seq uint64, b *pb.CommentAdded) {
	s.seen(b.Comment.Id)
	if i, ok := searchID(&s.threads, b.ThreadId, (*pb.Thread).GetId); ok {
		s.threads.Set(i, withComment(s.threads.At(i), b.Comment))
		s.changed.Threads = seq
	}
}

func (s *State) applyCommentDeleted(seq uint64, b *pb.CommentDeleted) {
	i, ok := searchID(&s.threads, b.ThreadId, (*pb.Thread).GetId)
	if !ok {
		return
	}
	s.keepMessages(seq, i, func(m *pb.Comment) bool { return m.Id != b.CommentId })
	s.dropEmptyThreads()
}

// keepMessages filters the messages of a thread.
func (s *State) keepMessages(seq uint64, i int, keep func(*pb.Comment) bool) {
	t := shallow(s.threads.At(i))
	t.Messages = nil
	for _, m := range s.threads.At(i).Messages {
		if keep(m) {
			t.Messages = append(t.Messages, m)
		}
	}
	s.threads.Set(i, t)
	s.changed.Threads = seq
}

func (s *State) dropEmptyThreads() {
	if s.threads.Filter(func(t *pb.Thread) bool { return len(t.Messages) > 0 }) > 0 {
		s.indexThreads()
	}
}

func (s *State) indexThreads() {
	clear(s.byAnchor)
	for i, t := range s.threads.All() {
		s.byAnchor[t.AnchorKey] = i
	}
}
