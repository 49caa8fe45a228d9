package codelab

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/actors/catalog"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/markdown"
	"atelier/actors/naming"
)

// Limits of the content of a codelab (transport/rest/RULES.md, "Limits"): texts in code points, and
// the number of steps.
const (
	maxTitle       = 200
	maxDescription = 4000
	maxAuthor      = 120
	maxMarkdown    = 50_000
	maxSteps       = 200
)

// MaxSlug bounds the id that a codelab's file declares (its slug), in code points.
const MaxSlug = 100

// Origin states how a codelab was created, for the audit trail.
type Origin uint8

// The origins.
const (
	OriginCreate Origin = iota
	OriginCopy
	OriginImport
	OriginSample
)

// Create creates the codelab. The reply is its *pb.Codelab.
type Create struct {
	Codelab *pb.Codelab
	Steps   []*pb.Step
	Quizzes []*pb.Quiz
	// Polls are drafts; their StepId is the id of a step in Steps.
	Polls  []*pb.Poll
	Origin Origin
	// SourceID is the id of the codelab that was copied; only with OriginCopy.
	SourceID  string
	Materials []*pb.Material
	// Uploads are imported files, registered in the same commit.
	Uploads []*pb.Upload
	// Workspace is the workspace of a copy, recorded in the same commit, or nil.
	Workspace *CreateWorkspace
}

func (b Create) decide(c call) (decision, error) {
	if c.s.deleted {
		return decision{}, errGone
	}
	if c.s.meta != nil {
		return decision{}, durable.Reject(durable.Conflict, "this codelab already exists")
	}
	meta := b.Codelab.Clone()
	meta.Id, meta.CreatedAt, meta.Rehearsal = c.s.id, c.now.UnixMilli(), nil
	if err := checkMeta(meta); err != nil {
		return decision{}, err
	}
	steps, err := c.newSteps(b.Steps, 0)
	if err != nil {
		return decision{}, err
	}
	meta.Extent, meta.DeletionAt = extentOf(steps), 0
	quizzes, err := c.newQuizzes(b.Quizzes)
	if err != nil {
		return decision{}, err
	}
	materials, err := c.newMaterials(b.Materials)
	if err != nil {
		return decision{}, err
	}
	polls, err := c.newPolls(b.Polls, b.Steps, steps)
	if err != nil {
		return decision{}, err
	}
	d := decided(meta, &pb.Event{Body: &pb.Event_Created{Created: &pb.Created{
		Codelab: meta, Steps: steps, Quizzes: quizzes, Materials: materials, Polls: polls,
	}}})
	action, about := "codelab_create", map[string]string(nil)
	switch b.Origin {
	case OriginCopy:
		action, about = "codelab_copy", map[string]string{"source_id": b.SourceID}
	case OriginImport:
		action = "codelab_import"
	case OriginSample:
		action = "sample_create"
	}
	d.Rows = append(c.audit(action, c.s.id, about), catalog.ListRow(meta))
	d.Rows = append(d.Rows, slugRows(nil, meta)...)
	d.Rows = append(d.Rows, c.textRows(nil, inText(meta, steps, quizzes, ""))...)
	for _, u := range b.Uploads {
		d.Rows = append(d.Rows, files.UploadRows(u)...)
	}
	if b.Workspace != nil {
		made, err := b.Workspace.made(c)
		if err != nil {
			return decision{}, err
		}
		d.Events, d.Rows = append(d.Events, made.Events...), append(d.Rows, made.Rows...)
	}
	uses := names{}
	for _, m := range materials {
		if m.Upload != "" && !uses[m.Upload] {
			uses[m.Upload] = true
			d.Rows = append(d.Rows, files.UseRow(m.Upload, c.s.id, files.ByMaterial))
		}
	}
	return d, nil
}

// checkMeta normalizes and checks the settings, and sets the derived ones.
func checkMeta(m *pb.Codelab) (err error) {
	if m.Title, err = line("title", m.Title, 1, maxTitle); err != nil {
		return err
	}
	if m.Author, err = line("author", m.Author, 0, maxAuthor); err != nil {
		return err
	}
	if m.Slug, err = line("id", m.Slug, 0, MaxSlug); err != nil {
		return err
	}
	if err = text("description", m.Description, 0, maxDescription); err != nil {
		return err
	}
	if err = text("guide_markdown", m.GetGuideMarkdown(), 0, maxMarkdown); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		days int32
	}{{"email_retention_days", m.EmailRetentionDays}, {"chat_retention_days", m.ChatRetentionDays}} {
		if f.days < 0 || f.days > 36500 {
			return durable.Reject(durable.Invalid, "%s must be 0 to 36500", f.name)
		}
	}
	if _, known := pb.Asking_name[int32(m.Questions)]; !known {
		return durable.Reject(durable.Invalid, "questions must be off, open or checked")
	}
	if _, known := pb.Sharing_name[int32(m.ShareCode)]; !known {
		return durable.Reject(durable.Invalid, "share_code must be %s", naming.Or(Sharings...))
	}
	m.GuideSum = sum(m.GetGuideMarkdown())
	return checkCertificate(m)
}

// slugRows returns the rows that remove the old slug and record the new one, if the two differ.
func slugRows(old, now *pb.Codelab) (rows []durable.Row) {
	if was := old.GetSlug(); was != now.GetSlug() && was != "" {
		rows = append(rows, catalog.NoSlugRow(was))
	}
	if is := now.GetSlug(); is != old.GetSlug() && is != "" {
		rows = append(rows, catalog.SlugRow(is, now.Id))
	}
	return rows
}

// sum returns the server's own hash of a text that people comment on. The hash omits notes for
// facilitators, so that comments stay current when such a note changes.
func sum(content string) []byte {
	h := sha256.Sum256([]byte(markdown.WithoutNotes(content)))
	return h[:16]
}

// Update changes settings. Settings whose field is nil keep their value.
type Update struct {
	Title             *string
	Description       *string
	Author            *string
	IsPublic          *bool
	QuizEnabled       *bool
	RequireQuiz       *bool
	RequireFeedback   *bool
	RequireSubmission *bool
	RequireChecks     *bool
	GuideMarkdown     *string
	// ClearGuide removes the guide.
	ClearGuide         bool
	EmailRetentionDays *int32
	ChatRetentionDays  *int32
	AIEnabled          *bool
	Questions          *pb.Asking
	QuestionsNamed     *bool
	ShareCode          *pb.Sharing
	Organiser          *string
	// HalfHours is the duration on the certificate, in half hours. ClearHours restores the planned
	// duration.
	HalfHours  *int32
	ClearHours bool
	// LogoURL replaces the logo; "" removes it.
	LogoURL         *string
	Accent          *pb.Accent
	CertificateText *string
	Seal            *bool
}

func (u Update) decide(c call) (decision, error) {
	m := c.s.meta.Clone()
	changed := map[string]string{}
	set(changed, "title", &m.Title, u.Title)
	set(changed, "description", &m.Description, u.Description)
	set(changed, "author", &m.Author, u.Author)
	set(changed, "is_public", &m.IsPublic, u.IsPublic)
	set(changed, "quiz_enabled", &m.QuizEnabled, u.QuizEnabled)
	set(changed, "require_quiz", &m.RequireQuiz, u.RequireQuiz)
	set(changed, "require_feedback", &m.RequireFeedback, u.RequireFeedback)
	set(changed, "require_submission", &m.RequireSubmission, u.RequireSubmission)
	set(changed, "require_checks", &m.RequireChecks, u.RequireChecks)
	set(changed, "email_retention_days", &m.EmailRetentionDays, u.EmailRetentionDays)
	set(changed, "chat_retention_days", &m.ChatRetentionDays, u.ChatRetentionDays)
	set(changed, "questions", &m.Questions, u.Questions)
	set(changed, "questions_anonymous", &m.QuestionsNamed, u.QuestionsNamed)
	set(changed, "share_code", &m.ShareCode, u.ShareCode)
	set(changed, "organiser", &m.Organiser, u.Organiser)
	set(changed, "logo_url", &m.LogoUrl, u.LogoURL)
	set(changed, "accent", &m.Accent, u.Accent)
	set(changed, "certificate_text", &m.CertificateText, u.CertificateText)
	set(changed, "seal", &m.Seal, u.Seal)
	if u.HalfHours != nil || u.ClearHours {
		m.HalfHours = u.HalfHours
		changed["hours"] = ""
	}
	if u.AIEnabled != nil {
		m.AiDisabled = !*u.AIEnabled
		changed["ai_enabled"] = ""
	}
	if u.GuideMarkdown != nil || u.ClearGuide {
		m.GuideMarkdown = u.GuideMarkdown
		if u.ClearGuide {
			m.GuideMarkdown = nil
		}
		changed["guide_markdown"] = ""
	}
	if err := checkMeta(m); err != nil {
		return decision{}, err
	}
	fields := strings.Join(slices.Sorted(maps.Keys(changed)), ",")
	d := c.updated(m, "codelab_update", map[string]string{"fields": fields})
	if u.GuideMarkdown != nil || u.ClearGuide || u.Description != nil || u.LogoURL != nil {
		d.Rows = append(d.Rows, c.textRows(c.s.inText(), inText(m, c.s.steps, c.s.quizzes, c.s.pin.GetMessage()))...)
	}
	revision := c.seq
	if onlySwitched(c.s.meta, m) {
		revision = c.s.revisions.Codelab
	}
	d.Reply = Edited{Codelab: m, Revision: revision, Seq: c.seq}
	return d, nil
}

// inText returns the uploads currently mentioned in the text.
func (s *State) inText() names { return inText(s.meta, s.steps, s.quizzes, s.pin.GetMessage()) }

func set[T any](changed map[string]string, name string, to *T, from *T) {
	if from != nil {
		*to = *from
		changed[name] = ""
	}
}

// updated returns the decision that replaces the settings.
func (c call) updated(m *pb.Codelab, action string, about map[string]string) decision {
	d := decided(m, &pb.Event{Body: &pb.Event_Updated{Updated: &pb.Updated{Codelab: m}}})
	d.Rows = append(c.audit(action, c.s.id, about), catalog.ListRow(m))
	return d
}

// SetRegistration opens or closes registration for new attendees.
type SetRegistration struct {
	Open bool
}

func (r SetRegistration) decide(c call) (decision, error) {
	if c.s.meta.RegistrationClosed == !r.Open {
		return decided(c.s.meta), nil
	}
	m := c.s.meta.Clone()
	m.RegistrationClosed = !r.Open
	return c.updated(m, "codelab_update", map[string]string{"registration": openText(r.Open)}), nil
}

func openText(open bool) string {
	if open {
		return "open"
	}
	return "closed"
}

// SetEnded ends the workshop, or resumes it.
type SetEnded struct {
	Ended bool
	// DeletionDays is the number of days from the end to the deletion. 0 means never.
	DeletionDays int
}

func (r SetEnded) decide(c call) (decision, error) {
	if (c.s.meta.EndedAt != 0) == r.Ended {
		return decided(c.s.meta), nil
	}
	m := c.s.meta.Clone()
	m.EndedAt, m.DeletionAt = 0, 0
	if r.Ended {
		m.EndedAt = c.now.UnixMilli()
		m.DeletionAt = deletionAt(m, min(max(r.DeletionDays, 0), MaxDays), c.now)
	}
	over := decision{}
	if r.Ended && m.Rehearsal != nil {
		over, m.Rehearsal = c.rehearsalEnded("workshop"), nil
	}
	d := c.updated(m, "codelab_update", map[string]string{"ended": fmt.Sprint(r.Ended)})
	d.Events, d.Rows = append(over.Events, d.Events...), append(over.Rows, d.Rows...)
	if r.Ended && c.s.pointer != nil {
		d.Events = append(d.Events, pointed(&pb.Pointer{By: c.Name}))
	}
	if r.Ended && c.s.timer != nil {
		d.Events = append(d.Events, timed(nil))
	}
	if r.Ended && c.s.leavesAt() != 0 {
		gone := c.questionsLeave()
		d.Events, d.Rows = append(d.Events, gone.Events...), append(d.Rows, gone.Rows...)
	}
	if p := c.s.openPoll(); r.Ended && p != nil && !p.rec.Rehearsed {
		closed := c.closePoll(p)
		d.Events, d.Rows = append(d.Events, closed.Events...), append(d.Rows, closed.Rows...)
	}
	return d, nil
}

// live rejects a command after the workshop has ended, unless the caller is an admin.
func (c call) live() error {
	if c.s.meta.EndedAt != 0 && !c.admin() {
		return durable.Reject(durable.Conflict, "the workshop has ended")
	}
	return nil
}

// ReplaceSteps replaces the steps. The threads, pulses and ticks of a removed step are removed with
// it.
type ReplaceSteps struct {
	Steps []*pb.Step
}

func (r ReplaceSteps) decide(c call) (decision, error) {
	steps, err := c.newSteps(r.Steps, 1)
	if err != nil {
		return decision{}, err
	}
	// People follow their step to its new number. If none of the old steps remains, people keep
	// their number instead.
	follow := slices.ContainsFunc(c.s.steps, func(st *pb.Step) bool { return hasStep(steps, st.Id) })
	d := decided(nil, &pb.Event{Body: &pb.Event_StepsReplaced{StepsReplaced: &pb.StepsReplaced{Steps: steps, Follow: follow}}})
	d.Rows = append(c.audit("codelab_steps_update", c.s.id, map[string]string{"steps": fmt.Sprint(len(steps))}), catalog.ListRow(counted(c.s.meta, steps)))
	d.Rows = append(d.Rows, c.textRows(c.s.inText(), inText(c.s.meta, steps, c.s.quizzes, c.s.pin.GetMessage()))...)
	d.Rows = append(d.Rows, c.untalkThreads(steps)...)
	moved := c.pointerMoved(steps)
	d.Events = slices.Concat(d.Events, moved, c.pulsesOver(steps))
	d.Reply = Edited{Revision: c.seq, Seq: c.seq + uint64(len(moved))}
	return d, nil
}

// extentOf returns the number of steps and the sum of their planned minutes.
func extentOf(steps []*pb.Step) *pb.Extent {
	x := &pb.Extent{Steps: int32(len(steps))}
	for _, st := range steps {
		x.Minutes += st.DurationMinutes
	}
	return x
}

// counted returns the record of a codelab with the extent of steps.
func counted(m *pb.Codelab, steps []*pb.Step) *pb.Codelab {
	x := extentOf(steps)
	if m == nil || m.Extent != nil && m.Extent.Steps == x.Steps && m.Extent.Minutes == x.Minutes {
		return m
	}
	m = m.Clone()
	m.Extent = x
	return m
}

// newSteps checks steps and assigns ids. A known id is reused once.
func (c call) newSteps(in []*pb.Step, least int) ([]*pb.Step, error) {
	if len(in) < least || len(in) > maxSteps {
		return nil, durable.Reject(durable.Invalid, "steps: a codelab has %d to %d steps", least, maxSteps)
	}
	known := map[string]*pb.Step{}
	for _, st := range c.s.steps {
		known[st.Id] = st
	}
	out := make([]*pb.Step, len(in))
	for i, st := range in {
		title, err := line(fmt.Sprintf("steps[%d].title", i), st.Title, 1, maxTitle)
		if err != nil {
			return nil, err
		}
		if err := text(fmt.Sprintf("steps[%d].content_markdown", i), st.ContentMarkdown, 0, maxMarkdown); err != nil {
			return nil, err
		}
		if st.DurationMinutes < 0 || st.DurationMinutes > 10_000 {
			return nil, durable.Reject(durable.Invalid, "steps[%d].duration_minutes must be 0 to 10000", i)
		}
		id, old := st.Id, known[st.Id]
		if delete(known, id); old == nil {
			id = c.id()
		}
		// The hash of an unchanged text is kept, because sum searches the whole text for notes.
		hash := old.GetContentSum()
		if old == nil || old.ContentMarkdown != st.ContentMarkdown || len(hash) == 0 {
			hash = sum(st.ContentMarkdown)
		}
		out[i] = &pb.Step{
			Id: id, Title: title, ContentMarkdown: st.ContentMarkdown, ContentSum: hash, DurationMinutes: st.DurationMinutes,
		}
	}
	return out, nil
}

// Delete removes the codelab.
type Delete struct {
	// Due rejects the deletion before the announced time.
	Due bool
}

func (b Delete) decide(c call) (decision, error) {
	if b.Due && !due(c.s.meta, c.now) {
		return decision{}, durable.Reject(durable.Conflict, "this codelab is not yet due for deletion")
	}
	d := decided(c.s.files(), &pb.Event{Body: &pb.Event_Deleted{Deleted: &pb.Deleted{}}})
	d.Rows = append(c.audit("codelab_delete", c.s.id, nil), catalog.GoneRows(c.s.id)...)
	d.Rows = append(d.Rows, slugRows(c.s.meta, nil)...)
	return d, nil
}

// NoteExport records an export in the audit trail.
type NoteExport struct {
	// Name of the exported part; "" means the whole codelab.
	What string
	// AttendeeID is the id of the attendee concerned; "" for all.
	AttendeeID string
}

func (n NoteExport) decide(c call) (decision, error) {
	var about map[string]string
	if n.What != "" {
		about = map[string]string{"what": n.What}
	}
	return decision{Rows: c.audit("codelab_export", cmp.Or(n.AttendeeID, c.s.id), about)}, nil
}

func (s *State) applyCreated(seq uint64, at int64, b *pb.Created) {
	s.meta = b.Codelab
	s.applySteps(seq, at, b.Steps, false)
	s.applyQuizzes(seq, b.Quizzes)
	for _, m := range b.Materials {
		s.applyMaterialAdded(seq, m)
	}
	for _, p := range b.Polls {
		s.applyPollChanged(seq, &pb.PollChanged{Poll: p})
	}
}

// applySteps replaces the steps. The threads, pulses and ticks of removed steps are removed, and
// nobody stays beyond the last step. With follow, people stay on their step, regardless of its new
// number.
func (s *State) applySteps(seq uint64, at int64, steps []*pb.Step, follow bool) {
	var m moves
	if follow {
		m = movesOf(s.steps, steps)
	}
	tasks := tasksOf(steps, s.steps, s.tasks)
	lost := lostTasks(s.steps, s.tasks, steps, tasks)
	// The encoded record of each attendee contains the number of tasks, and readers cache it. A
	// changed number therefore needs new records.
	renew := countTasks(tasks) != countTasks(s.tasks)
	s.steps, s.checks, s.tasks = steps, checksOf(steps), tasks
	s.meta = counted(s.meta, steps)
	if follow {
		for _, i := range s.openHelp {
			if n := int(s.help.At(i).StepNumber); n > 0 && n < len(m.to) && m.to[n] != int32(n) {
				s.changeHelp(seq, s.help.At(i).Id, func(h *pb.HelpRequest) { h.StepNumber = m.to[n] })
			}
		}
	}
	s.changed.Codelab, s.revisions.Codelab = seq, seq
	known := map[string]bool{}
	for _, st := range steps {
		known[st.Id] = true
		s.seen(st.Id)
	}
	if s.threads.Filter(func(t *pb.Thread) bool { return t.TargetType != "step" || known[t.TargetStepId] }) > 0 {
		s.indexThreads()
	}
	s.changed.Threads = seq // a changed text can make threads stale, or current again
	s.unstepPolls(seq)
	s.unstepQuestions(seq)
	last := int32(max(len(steps), 1))
	for i, a := range s.attendees.All() {
		pulse := followPulse(a.Pulse, steps)
		ticks, fewer := keepTicks(a.Ticks, lost)
		if follow || a.CurrentStep > last || a.FurthestStep > last || pulse != a.Pulse || fewer || renew {
			a = a.Clone()
			a.Ticks = ticks
			s.setPulseOf(a, pulse)
			if follow {
				m.followed(a, at)
			}
			a.CurrentStep = min(a.CurrentStep, last)
			a.FurthestStep = min(a.FurthestStep, last)
			a.ReachedAt = a.ReachedAt[:min(len(a.ReachedAt), int(last))]
			s.attendees.Set(i, a)
			s.changed.Attendees = seq
		}
	}
	s.countSteps()
}

// applyDeleted removes everything except the mark deleted. While the actor is active, the mark
// prevents the id from being reused.
func (s *State) applyDeleted(seq uint64) {
	*s = *New(s.id, s.rules, s.ids)
	s.deleted = true
	s.changed = changedAt(seq)
}

// changedAt returns a Changed in which every part has changed at seq.
func changedAt(seq uint64) Changed {
	return Changed{
		Codelab: seq, Attendees: seq, Chat: seq, Help: seq, Feedback: seq, Threads: seq, Quizzes: seq, Answers: seq,
		Materials: seq, Submissions: seq, Polls: seq, Questions: seq,
	}
}
