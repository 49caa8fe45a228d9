package rest

import (
	"bytes"
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/files"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

type attendeeRecord struct {
	ID           string        `json:"id" is:"Id"`
	CodelabID    string        `json:"codelab_id" is:"Id"`
	Name         string        `json:"name" length:"1..80"`
	Email        string        `json:"email" length:"..254"`
	CurrentStep  int32         `json:"current_step" range:"1.."`
	FurthestStep int32         `json:"furthest_step" range:"1.."`
	IsCompleted  bool          `json:"is_completed"`
	CompletedAt  *string       `json:"completed_at" is:"Timestamp"`
	CreatedAt    string        `json:"created_at" is:"Timestamp"`
	Muted        bool          `json:"muted" doc:"Muted by a facilitator: they cannot chat, send direct messages or comment."`
	StepSince    *string       `json:"step_since" is:"Timestamp" doc:"The time when they came to their current step."`
	Pulse        *pulseRecord  `json:"pulse" doc:"Their own report on their progress with the step. Null if they have not reported on this step."`
	Place        *string       `json:"place" length:"..40" doc:"Their seat, in their own words. Null if they have not entered it."`
	Checks       []checkRecord `json:"checks" doc:"The latest result of each check of their work, reported by the program that they run. Other attendees see none."`
	CodeTaken    *takenRecord  `json:"code_taken" doc:"The branch or folder whose code they downloaded or fetched last, or null. Other attendees see null."`
	Ticks        *ticksRecord  `json:"ticks" doc:"The number of their ticked tasks. Other attendees see null."`
	Simulated    bool          `json:"simulated" doc:"Simulated by a rehearsal, and erased together with it."`
}

type takenRecord struct {
	Name string `json:"name"`
	At   string `json:"at" is:"Timestamp"`
}

func toTaken(t *pb.TakenCode) *takenRecord {
	if t == nil {
		return nil
	}
	return &takenRecord{t.Name, wire.Stamp(t.At)}
}

// toAttendee returns an attendee's record. With all, it is the record that the attendee and admins
// see. Otherwise the record omits the e-mail address, the times of completion and of the current
// step, the reported progress, the place, the checks, the downloaded code and the ticked tasks.
func toAttendee(lab string, tasks int, a *pb.Attendee, all bool) attendeeRecord {
	out := attendeeRecord{
		a.Id, lab, a.Name, a.Email, a.CurrentStep, a.FurthestStep, a.CompletedAt != 0, wire.StampOrNull(a.CompletedAt), wire.Stamp(a.CreatedAt), a.Muted,
		wire.StampOrNull(a.StepSince), toPulse(a.Pulse), wire.OrNull(a.Place), toChecks(a.Checks), toTaken(a.CodeTaken), toTicks(a, tasks), a.Simulated,
	}
	if !all {
		out.Email, out.CompletedAt, out.StepSince, out.Pulse, out.Place, out.Checks, out.CodeTaken, out.Ticks = "", nil, nil, nil, nil, noChecks, nil, nil
	}
	return out
}

func getAttendees(r *Request) error {
	v := r.view()
	admin := r.IsAdmin()
	variant := "a"
	switch {
	case r.assists():
		variant = "h"
	case !admin:
		variant = r.Caller.ID
	}
	if r.fresh(v.Changed.Attendees, variant) {
		return nil
	}
	lab := r.Codelab.ID()
	if r.assists() {
		out := []attendeeRecord{}
		for _, a := range v.Attendees.All() {
			out = append(out, r.attendeeRecord(v, a))
		}
		return r.JSON(out)
	}
	b, err := v.Encoded.Attendees.Get(r.slot(), func() ([]byte, error) { return encodeAttendees(v, lab, admin), nil })
	if err != nil {
		return err
	}
	if !admin {
		b = showOwn(b, lab, v.TaskCount(), v.Attendee(r.Caller.ID))
	}
	return r.Answer(b)
}

// detailedRecord adds members that are included only on request, because they require a search
// through lists that grow with the audience.
type detailedRecord struct {
	attendeeRecord
	Missing *[]string      `json:"missing,omitempty" items:"..4" enum:"quiz|feedback|submission|checks" doc:"The requirements that they must still meet to complete the codelab. Only in an attendee's own record, read with «missing=true»."`
	Steps   *[]stepReached `json:"steps,omitempty" doc:"The steps that they have reached, in order. Only with «details=true», for facilitators and for the attendee."`
	Quiz    *quizScore     `json:"quiz,omitempty" doc:"Their quiz result. Only with «details=true», for facilitators and for the attendee, in a codelab with questions."`
}

// stepReached is the time at which an attendee first reached a step, and the time until the next
// step.
type stepReached struct {
	StepNumber int      `json:"step_number" range:"1.."`
	ReachedAt  string   `json:"reached_at" is:"Timestamp"`
	Seconds    *float64 `json:"seconds" range:"0.." doc:"The time until they reached the next step or completed the codelab. Null until then, and 0 if they skipped this step. «median_seconds» of «overview» is computed from these times."`
}

// quizScore contains the number of an attendee's correct answers, of answered questions, and of all
// questions in the codelab.
type quizScore struct {
	Right    int `json:"right"`
	Answered int `json:"answered"`
	Of       int `json:"of" range:"1.."`
}

// getAttendee returns one attendee's record, with more members on request.
func getAttendee(r *Request) error {
	v := r.view()
	a := v.Attendee(r.Param("attendee_id"))
	if a == nil {
		return errNoAttendee
	}
	missing, err := r.flag("missing")
	if err != nil {
		return err
	}
	details, err := r.flag("details")
	if err != nil {
		return err
	}
	own := a.Id == r.Caller.ID
	missing, details = missing && own, details && (own || r.IsAdmin())
	if !missing && !details {
		return r.JSON(r.attendeeRecord(v, a))
	}
	out := detailedRecord{attendeeRecord: r.attendeeRecord(v, a)}
	if missing {
		all := v.Missing(a.Id)
		out.Missing = &all
	}
	if details {
		steps := toStepsReached(a, len(v.Steps))
		out.Steps, out.Quiz = &steps, toQuizScore(v, a.Id)
	}
	return r.JSON(out)
}

func toStepsReached(a *pb.Attendee, steps int) []stepReached {
	out := make([]stepReached, 0, steps)
	for i, at := range a.ReachedAt[:min(len(a.ReachedAt), steps)] {
		one := stepReached{StepNumber: i + 1, ReachedAt: wire.Stamp(at)}
		if i+1 < len(a.ReachedAt) || a.CompletedAt != 0 {
			s := seconds(timeOn(a, i))
			one.Seconds = &s
		}
		out = append(out, one)
	}
	return out
}

func toQuizScore(v *codelab.View, attendee string) *quizScore {
	if len(v.Quizzes) == 0 {
		return nil
	}
	out := &quizScore{Of: len(v.Quizzes)}
	for _, x := range v.Answers.All() {
		if x.AttendeeId != attendee {
			continue
		}
		out.Answered++
		if x.IsCorrect {
			out.Right++
		}
	}
	return out
}

// attendeeRecord returns the record as the caller is permitted to see it: assistants see no e-mail
// addresses.
func (r *Request) attendeeRecord(v *codelab.View, a *pb.Attendee) attendeeRecord {
	out := toAttendee(r.Codelab.ID(), v.TaskCount(), a, r.IsAdmin() || a.Id == r.Caller.ID)
	if r.assists() {
		out.Email = ""
	}
	return out
}

type presenceRecord struct {
	AttendeeIDs []string `json:"attendee_ids" is:"Id"`
}

// getPresence lists the connected attendees for facilitators. The messages attendee_joined and
// attendee_left report later changes.
func getPresence(r *Request) error {
	present := r.Codelab.Room.Present()
	present = slices.DeleteFunc(present, func(id string) bool { return id == codelab.FacilitatorID })
	slices.Sort(present)
	return r.JSON(presenceRecord{present})
}

// encodeAttendees returns the list as a JSON array. Pages cache their encoding, so most of the work
// is copying: 10,000 people are on 157 pages, and few pages change between two reads.
func encodeAttendees(v *codelab.View, lab string, all bool) []byte {
	slot, tasks := forOthers, v.TaskCount()
	if all {
		slot = forAdmins
	}
	b := append(make([]byte, 0, 2+256*v.Attendees.Len()), '[')
	b = v.Attendees.Encode(b, slot, func(dst []byte, items []*pb.Attendee) []byte {
		for _, a := range items {
			one, _ := wire.Codec.Marshal(toAttendee(lab, tasks, a, all))
			dst = append(append(dst, one...), ',')
		}
		return dst
	})
	if len(b) > 1 {
		b = b[:len(b)-1]
	}
	return append(b, ']')
}

// showOwn replaces the caller's reduced record with the full one.
func showOwn(b []byte, lab string, tasks int, own *pb.Attendee) []byte {
	if own == nil {
		return b
	}
	reduced, _ := wire.Codec.Marshal(toAttendee(lab, tasks, own, false))
	full, _ := wire.Codec.Marshal(toAttendee(lab, tasks, own, true))
	return bytes.Replace(b, reduced, full, 1)
}

type attendeeUpdateBody struct {
	Name  *string `json:"name,omitempty" length:"1..80" doc:"One line, trimmed, different from all other names in the codelab."`
	Muted *bool   `json:"muted,omitempty"`
	Place *string `json:"place,omitempty" length:"..40" doc:"The seat of the calling attendee. One line, trimmed. Empty removes it."`
}

// updateAttendee changes an attendee. Facilitators can change the name and the muting, assistants
// only the muting, and attendees only their own place.
func updateAttendee(r *Request) error {
	switch id := r.Param("attendee_id"); {
	case r.IsAdmin():
	case r.Codelab.View().Attendee(id) == nil:
		return errNoAttendee
	case id != r.Caller.ID:
		return errForbidden
	}
	b, err := r.JSONBody()
	if err != nil {
		return err
	}
	var in attendeeUpdateBody
	if err := wire.Decode(b, &in); err != nil {
		return err
	}
	switch {
	case !r.IsAdmin():
		return r.setPlace(b, in.Place)
	case in.Place != nil:
		return errOthersPlace
	case in.Name == nil && in.Muted == nil:
		return wire.Invalid("name or muted is required")
	case in.Name != nil && r.assists():
		return errForbidden
	}
	id := r.Param("attendee_id")
	var v any
	if in.Name != nil {
		if v, err = r.do(codelab.Rename{
			AttendeeID: id, Name: *in.Name, NameReserved: r.api.Auth.Reserved(r.Param("id"), *in.Name),
		}); err != nil {
			return err
		}
	}
	if in.Muted != nil {
		if v, err = r.do(codelab.Mute{AttendeeID: id, Muted: *in.Muted}); err != nil {
			return err
		}
	}
	return r.JSON(r.attendeeRecord(r.Codelab.View(), v.(*pb.Attendee)))
}

var errOthersPlace = &httpapi.Error{Status: 403, Text: "only the attendee can set their place"}

// setPlace sets the place of the calling attendee, who cannot change anything else in the same
// request.
func (r *Request) setPlace(body []byte, place *string) error {
	var given map[string]any
	if err := wire.Decode(body, &given); err != nil {
		return err
	}
	delete(given, "place")
	switch {
	case len(given) > 0:
		return errForbidden
	case place == nil:
		return wire.Invalid("place is required: a text, which can be empty")
	}
	v, err := r.do(codelab.SetPlace{Place: *place})
	if err != nil {
		return err
	}
	return r.JSON(r.attendeeRecord(r.Codelab.View(), v.(*pb.Attendee)))
}

func removeAttendee(r *Request) error {
	id := r.Param("attendee_id")
	erase, err := r.flag("erase")
	if err != nil {
		return err
	}
	v, err := r.do(codelab.Remove{AttendeeID: id, Erase: erase})
	if err != nil {
		return err
	}
	r.api.Auth.Sessions.Forget(id) // their access is already invalid
	r.release(v.(files.Forgotten))
	return r.NoContent()
}

func complete(r *Request) error {
	if _, err := r.do(codelab.Complete{}); err != nil {
		return err
	}
	return r.ok()
}

func certificate(r *Request) error {
	v, a, err := r.api.Codelabs.FindAttendee(r.Param("id"))
	if err != nil {
		return err
	}
	if a.Simulated {
		return errNoAttendee
	}
	if a.CompletedAt == 0 {
		return &httpapi.Error{Status: 403, Text: "this attendee has not completed the codelab"}
	}
	out := toCertificate(v, a)
	out.DeletionAt = r.deletionAt(v.Meta)
	return r.JSON(out)
}

type certificateRecord struct {
	AttendeeName    string   `json:"attendee_name"`
	CodelabTitle    string   `json:"codelab_title"`
	CodelabID       string   `json:"codelab_id" is:"Id"`
	Author          string   `json:"author"`
	CompletedAt     string   `json:"completed_at" is:"Timestamp"`
	VerificationURL string   `json:"verification_url" pattern:"^/verify/" doc:"A page of the browser app."`
	Steps           int      `json:"steps" doc:"The number of steps in the codelab."`
	Hours           *float64 `json:"hours" range:"0.5..1000" multiple:"0.5" doc:"The duration in hours, a multiple of 0.5: the codelab's setting, or else the planned minutes. Null if it is not shown."`
	certificateSettings
	Shares     []int   `json:"shares,omitempty" range:"0..100" doc:"The share of the person's time on each step in per cent, with the sum 100, or all 0 if nothing was measured. Only with «seal»."`
	DeletionAt *string `json:"deletion_at" is:"Timestamp" doc:"The time at which the server will delete the codelab, and with it this certificate. Null means never."`
}

func toCertificate(v *codelab.View, a *pb.Attendee) certificateRecord {
	m := v.Meta
	out := certificateRecord{
		AttendeeName: a.Name, CodelabTitle: m.Title, CodelabID: m.Id, Author: m.Author, CompletedAt: wire.Stamp(a.CompletedAt), VerificationURL: "/verify/" + a.Id,
		Steps: len(v.Steps), certificateSettings: toCertificateSettings(m),
	}
	if hours := codelab.Hours(m); hours > 0 {
		out.Hours = &hours
	}
	if m.Seal {
		out.Shares = sharesOf(a, len(v.Steps))
	}
	return out
}

// sharesOf returns an attendee's share of time on each step, in per cent. The sum is 100, or all
// shares are 0 if no time was spent.
func sharesOf(a *pb.Attendee, steps int) []int {
	out, rests := make([]int, steps), make([]int64, steps)
	all := int64(0)
	for i := range out {
		all += timeOn(a, i)
	}
	if all == 0 {
		return out
	}
	left := 100
	for i := range out {
		part := timeOn(a, i) * 100
		out[i], rests[i] = int(part/all), part%all
		left -= out[i]
	}
	for ; left > 0; left-- { // give one per cent each to the steps that lost most by rounding
		most := 0
		for i, rest := range rests {
			if rest > rests[most] {
				most = i
			}
		}
		out[most], rests[most] = out[most]+1, -1
	}
	return out
}
