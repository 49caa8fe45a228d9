package codelab

import (
	"time"

	"atelier/actors/clock"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/room"
)

// observer forwards committed events to the room and the list. The codelab's actor owns it.
type observer struct {
	w    *Codelabs
	id   string
	room *room.Room
	// who asks the other nodes for their connected people.
	who func()
	lab Codelab
	// shown is the last published view.
	shown *View
	// secrets contains the secrets of the polls that are open or being counted.
	secrets []string
	// These alarms are for the times at which the open poll closes, questions are removed, and the
	// rehearsal ends.
	pollEnds, questionsLeave, rehearsalEnds alarm

	// found is set during recovery if the journal has records. floor is the position before the
	// first record. frames are the frames that can be replayed; Commit reuses their array.
	found  bool
	floor  uint64
	frames []room.Frame
	// erases means that one of the recovered events requires an erasure.
	erases bool
}

// Recovered collects the frames that can be replayed.
func (o *observer) Recovered(seq uint64, e *pb.Event) {
	if !o.found {
		o.found, o.floor = true, seq-1
	}
	if w := WithdrawnBy(seq, e); w.Item != "" {
		o.frames = edited(o.frames, w.Edit)
	}
	if f, ok := o.w.Frames.Encode(seq, e); ok {
		o.frames = append(o.frames, f)
	}
	o.erases = o.erases || Erases(e)
}

// Live fills the room after recovery.
func (o *observer) Live(v *View, seq uint64) {
	if !o.found {
		o.floor = seq
	}
	if o.erases {
		// Drop frames with data that must be erased. If a crash interrupted the erasure, the log
		// still contains such data.
		o.frames = edited(o.frames, v.Present().Frame)
	}
	o.room.Restore(o.frames, o.floor, seq)
	o.who()
	if o.shown != nil {
		o.leap(o.shown, v)
	}
	o.shown = v
	o.gather(v)
	o.watchPoll(v)
	o.watchQuestions(v)
	o.watchRehearsal(v)
	o.found, o.floor, o.frames, o.erases = false, 0, nil, false
}

// leap does the work of Commit if the state was reloaded, and the events between the two views are
// missing. This happens to a follower that missed events, and to an incarnation whose predecessor
// failed between a commit and Commit.
func (o *observer) leap(from, to *View) {
	switch {
	case to.Meta != nil && to.Meta != from.Meta:
		o.w.List.Put(to.Meta)
	case to.Meta == nil && from.Meta != nil:
		o.w.List.Remove(o.id)
		o.ended("")
		return
	}
	for _, id := range o.room.Here() {
		before, now := from.Attendee(id), to.Attendee(id)
		if before != nil && (now == nil || now.Generation != before.Generation) {
			o.ended(id)
		}
	}
}

// ended reports that the grants of an attendee have ended. An empty id means all attendees.
func (o *observer) ended(attendee string) {
	if o.w.Removed != nil {
		o.w.Removed(o.room, attendee)
	}
}

// Commit publishes the committed events.
func (o *observer) Commit(v *View, seq uint64, events []durable.Committed[*pb.Event]) {
	if o.shown == nil || v.Changed.Polls != o.shown.Changed.Polls {
		o.gather(v) // before the frames, because the event that opens a poll includes its audience
	}
	frames := o.frames[:0]
	clean, gone, withdrawals := false, []string(nil), []Withdrawal(nil)
	for _, c := range events {
		switch b := c.Event.Body.(type) {
		case *pb.Event_Created, *pb.Event_Updated, *pb.Event_StepsReplaced, *pb.Event_DeletionSet, *pb.Event_RehearsalStarted, *pb.Event_RehearsalEnded:
			o.list(v)
		case *pb.Event_Deleted:
			o.w.List.Remove(o.id)
			gone = append(gone, "")
		case *pb.Event_Removed:
			gone = append(gone, b.Removed.AttendeeId)
			if o.shown != nil && o.shown.Simulated(b.Removed.AttendeeId) {
				o.room.Ungather(b.Removed.AttendeeId)
			}
		case *pb.Event_PinReset:
			gone = append(gone, b.PinReset.AttendeeId)
		}
		clean = clean || Erases(c.Event)
		if w := WithdrawnBy(c.Seq, c.Event); w.Item != "" {
			withdrawals = append(withdrawals, w)
		}
		if f, ok := o.w.Frames.Encode(c.Seq, o.withAudience(v, c.Event)); ok {
			if !echoed(c.Event) {
				f.Origin = c.Origin
			}
			frames = append(frames, f)
		}
	}
	o.room.Publish(frames...)
	o.room.Advance(seq)
	for _, w := range withdrawals {
		o.room.Withdraw(w.Edit)
	}
	clear(frames)
	o.frames = frames[:0]
	if clean {
		o.room.Rewrite(v.Present().Frame)
	}
	for _, who := range gone {
		o.ended(who)
	}
	was := o.shown
	o.shown = v
	if was == nil || v.Changed.Polls != was.Changed.Polls {
		o.watchPoll(v)
	}
	if was == nil || v.Changed.Questions != was.Changed.Questions {
		o.watchQuestions(v)
	}
	if was == nil || v.Changed.Codelab != was.Changed.Codelab {
		o.watchRehearsal(v)
	}
}

// withAudience adds the size of the audience to an event of a poll.
func (o *observer) withAudience(v *View, e *pb.Event) *pb.Event {
	asked := func(p *pb.Poll) *pb.Poll {
		p = p.Clone()
		p.Of = int32(o.room.Gathered(gathering(p.Id, p.Round), notAsked(v, p)...))
		return p
	}
	switch b := e.Body.(type) {
	case *pb.Event_PollChanged:
		return &pb.Event{At: e.At, Body: &pb.Event_PollChanged{PollChanged: &pb.PollChanged{Poll: asked(b.PollChanged.Poll)}}}
	case *pb.Event_PollShown:
		if p := b.PollShown.Poll; p != nil {
			return &pb.Event{At: e.At, Body: &pb.Event_PollShown{PollShown: &pb.PollShown{PollId: p.Id, Poll: asked(p)}}}
		}
	}
	return e
}

// list updates the list with the current record. It does nothing if a later event of the batch has
// deleted the codelab.
func (o *observer) list(v *View) {
	if v.Meta != nil {
		o.w.List.Put(v.Meta)
	}
}

// Withdrawal means that an item is hidden from attendees, completely or in part. The item's events
// before this position are not replayed to them.
type Withdrawal struct {
	Item   string // "" if nothing is withdrawn
	Before uint64
}

// WithdrawnBy returns the withdrawal that an event causes.
func WithdrawnBy(seq uint64, e *pb.Event) Withdrawal {
	switch b := e.Body.(type) {
	case *pb.Event_QuestionHidden:
		return Withdrawal{b.QuestionHidden.QuestionId, seq}
	case *pb.Event_PollShown:
		if !b.PollShown.Poll.GetShown() {
			return Withdrawal{b.PollShown.PollId, seq}
		}
	}
	return Withdrawal{}
}

// Edit removes attendees from a frame's audience if the withdrawal concerns the frame. It returns
// false if no audience is left.
func (w Withdrawal) Edit(f room.Frame) (room.Frame, bool) {
	switch {
	case f.Item != w.Item || f.Seq >= w.Before:
	case f.Audience == room.Everyone:
		f.Audience = room.Facilitators
	case f.Audience == room.Attendees:
		return f, false
	}
	return f, true
}

// edited applies edit to the frames and removes those for which it returns false.
func edited(frames []room.Frame, edit func(room.Frame) (room.Frame, bool)) []room.Frame {
	kept := frames[:0]
	for _, f := range frames {
		if f, ok := edit(f); ok {
			kept = append(kept, f)
		}
	}
	return kept
}

// echoed reports whether the session that caused an event also receives it.
func echoed(e *pb.Event) bool {
	switch b := e.Body.(type) {
	case *pb.Event_Progressed, *pb.Event_Pulsed, *pb.Event_Ticked:
		return false
	case *pb.Event_ChatPosted:
		return b.ChatPosted.Message.TargetId == ""
	}
	return true
}

// alarm calls a function at a given time in Unix ms, or never if the time is 0. The observer that
// contains the alarm owns it.
type alarm struct {
	at    int64
	timer clock.Timer
}

func (a *alarm) set(c clock.Clock, at int64, do func()) {
	if at == a.at {
		return
	}
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	if a.at = at; at != 0 {
		a.timer = c.AfterFunc(max(time.UnixMilli(at).Sub(c.Now()), 0), do)
	}
}
