package codelab

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"atelier/actors/catalog"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// Publish replaces the text of a codelab with a newer version, possibly while people use the
// codelab (transport/rest/RULES.md, "Publishing"). The version comes from a file, or from the
// codelab that was copied to create this one. Parts that the version does not contain are kept.
type Publish struct {
	Title string
	// An empty string leaves these fields unchanged.
	Description, Author, Slug string
	Guide                     *string
	Steps                     []*pb.Step
	// Materials replace the existing materials. nil keeps the existing ones. Uploads are registered
	// in the same commit.
	Materials *[]*pb.Material
	Uploads   []*pb.Upload
	// Quizzes replace the existing questions; nil keeps them. Polls are added as drafts, or replace
	// the matching drafts. The StepId of a poll is the id of its step in Steps.
	Quizzes *[]*pb.Quiz
	Polls   []*pb.Poll
	// Workspace replaces the code, whose current record must equal Replaces. nil keeps the code.
	Workspace *CreateWorkspace
	Replaces  *pb.Workspace
	// SourceID is the id of the source codelab, or "" for a file.
	SourceID string
	// DryRun returns the changes without making them. It does not check Workspace.
	DryRun bool
}

// Published is the reply to Publish.
type Published struct {
	Codelab *pb.Codelab
	// Steps lists the current steps in their order, followed by the removed steps.
	Steps []StepChange
	// Before is the previous record.
	Before *pb.Codelab
	// StaleThreads counts the threads on changed texts. RemovedThreads counts the threads removed
	// with their step.
	StaleThreads, RemovedThreads int
	// PeopleOnRemovedSteps counts the people whose step is removed. They move to another step.
	PeopleOnRemovedSteps int
	// OldWorkspace is the id of the replaced workspace; "" for none.
	OldWorkspace string
}

// Change is the kind of change of a step.
type Change string

// Changes. A step that has both changed and moved counts as changed.
const (
	Same    Change = "same"
	Altered Change = "changed"
	Added   Change = "added"
	Gone    Change = "removed"
	Moved   Change = "moved"
)

// StepChange is a step, and its change.
type StepChange struct {
	ID, Title string
	// Was is the earlier title, if the title has changed.
	Was    string
	Change Change
}

func (b Publish) decide(c call) (decision, error) {
	given := make([]*pb.Step, len(b.Steps))
	for i, id := range matchSteps(c.s.steps, b.Steps) {
		given[i] = b.Steps[i].Clone()
		given[i].Id = id
	}
	steps, err := c.newSteps(given, 1)
	if err != nil {
		return decision{}, err
	}
	m, err := b.settings(c.s.meta)
	if err != nil {
		return decision{}, err
	}
	quizzes, quizzed, err := b.quizzes(c)
	if err != nil {
		return decision{}, err
	}

	reply := Published{Codelab: counted(m, steps), Before: c.s.meta, Steps: stepChanges(c.s.steps, steps)}
	reply.StaleThreads, reply.RemovedThreads = c.threadsAfter(m, steps)
	people := movesOf(c.s.steps, steps)
	for _, a := range c.s.attendees.All() {
		if people.leaves(a) {
			reply.PeopleOnRemovedSteps++
		}
	}
	d := decided(nil)
	if !proto.Equal(m, c.s.meta) {
		d.Events = append(d.Events, &pb.Event{Body: &pb.Event_Updated{Updated: &pb.Updated{Codelab: m}}})
		d.Rows = append(d.Rows, slugRows(c.s.meta, m)...)
	}
	if !proto.Equal(reply.Codelab, c.s.meta) {
		d.Rows = append(d.Rows, catalog.ListRow(reply.Codelab))
	}
	if !slices.EqualFunc(steps, c.s.steps, func(a, b *pb.Step) bool { return proto.Equal(a, b) }) {
		d.Events = append(d.Events, &pb.Event{Body: &pb.Event_StepsReplaced{StepsReplaced: &pb.StepsReplaced{Steps: steps, Follow: true}}})
		d.Events = slices.Concat(d.Events, c.pointerMoved(steps), c.pulsesOver(steps))
		d.Rows = append(d.Rows, c.untalkThreads(steps)...)
	}
	if quizzed {
		d.Events = append(d.Events, &pb.Event{Body: &pb.Event_QuizzesReplaced{QuizzesReplaced: &pb.QuizzesReplaced{Quizzes: quizzes}}})
	}
	d.Rows = append(d.Rows, c.textRows(c.s.inText(), inText(m, steps, quizzes, c.s.pin.GetMessage()))...)
	if err := b.materials(c, &d); err != nil {
		return decision{}, err
	}
	if err := b.polls(c, steps, &d); err != nil {
		return decision{}, err
	}
	if b.DryRun {
		return decided(reply), nil
	}
	if b.Workspace != nil {
		if !proto.Equal(c.s.workspace, b.Replaces) {
			return decision{}, ErrHeadMoved
		}
		made, err := b.Workspace.made(c)
		if err != nil {
			return decision{}, err
		}
		reply.OldWorkspace = c.s.workspace.GetId()
		d.Events, d.Rows = append(d.Events, made.Events...), append(d.Rows, made.Rows...)
	}
	for _, u := range b.Uploads {
		d.Rows = append(d.Rows, files.UploadRows(u)...)
	}
	about := map[string]string{"steps": fmt.Sprint(len(steps))}
	if b.SourceID != "" {
		about["source_id"] = b.SourceID
	}
	d.Rows = append(d.Rows, c.audit("codelab_publish", c.s.id, about)...)
	d.Reply = reply
	return d, nil
}

// settings returns the settings of the codelab with the version's changes.
func (b Publish) settings(was *pb.Codelab) (*pb.Codelab, error) {
	m := was.Clone()
	m.Title = b.Title
	if b.Description != "" {
		m.Description = b.Description
	}
	if b.Author != "" {
		m.Author = b.Author
	}
	if b.Slug != "" {
		m.Slug = b.Slug
	}
	if b.Guide != nil {
		if m.GuideMarkdown = b.Guide; *b.Guide == "" {
			m.GuideMarkdown = nil
		}
	}
	return m, checkMeta(m)
}

// quizzes returns the new questions, and whether they differ from the existing ones. Questions with
// the same text keep their answers. The remaining questions then take over the remaining answers in
// order.
func (b Publish) quizzes(c call) (_ []*pb.Quiz, changed bool, _ error) {
	if b.Quizzes == nil {
		return c.s.quizzes, false, nil
	}
	key := func(q *pb.Quiz) string { return q.Question }
	given := make([]*pb.Quiz, len(*b.Quizzes))
	for i, at := range pair(c.s.quizzes, *b.Quizzes, key) {
		given[i] = (*b.Quizzes)[i].Clone()
		if given[i].Id = ""; at >= 0 {
			given[i].Id = c.s.quizzes[at].Id
		}
	}
	made, err := c.newQuizzes(given)
	same := slices.EqualFunc(made, c.s.quizzes, func(a, b *pb.Quiz) bool { return proto.Equal(a, b) })
	return made, !same, err
}

// materials replaces all materials if any of them differs from the version's.
func (b Publish) materials(c call, d *decision) error {
	if b.Materials == nil {
		return nil
	}
	made, err := c.newMaterials(*b.Materials)
	if err != nil {
		return err
	}
	same := len(made) == c.s.materials.Len()
	for i, was := range c.s.materials.All() {
		same = same && made[i].Title == was.Title && made[i].MaterialType == was.MaterialType &&
			made[i].LinkUrl == was.LinkUrl && made[i].Upload == was.Upload
	}
	if same {
		return nil
	}
	uses := names{}
	for _, m := range made {
		if m.Upload != "" {
			uses[m.Upload] = true
		}
	}
	dropped := names{}
	for _, m := range c.s.materials.All() {
		d.Events = append(d.Events, &pb.Event{Body: &pb.Event_MaterialDeleted{MaterialDeleted: &pb.MaterialDeleted{MaterialId: m.Id}}})
		if m.Upload != "" && !uses[m.Upload] && !dropped[m.Upload] {
			dropped[m.Upload] = true
			d.Rows = append(d.Rows, files.UnuseRow(m.Upload, c.s.id, files.ByMaterial, 0))
		}
	}
	for _, m := range made {
		d.Events = append(d.Events, &pb.Event{Body: &pb.Event_MaterialAdded{MaterialAdded: &pb.MaterialAdded{Material: m}}})
		if uses[m.Upload] {
			delete(uses, m.Upload)
			d.Rows = append(d.Rows, files.UseRow(m.Upload, c.s.id, files.ByMaterial))
		}
	}
	return nil
}

// polls imports drafts. A draft that has the same kind and question as an existing poll replaces
// that poll if the poll is still a draft, and is dropped otherwise. Each existing poll matches at
// most one imported draft.
func (b Publish) polls(c call, steps []*pb.Step, d *decision) error {
	made, err := c.newPolls(b.Polls, b.Steps, steps)
	if err != nil {
		return err
	}
	there, taken := len(c.s.polls), map[string]bool{}
	for _, p := range made {
		at := slices.IndexFunc(c.s.polls, func(q *poll) bool {
			return q.rec.Kind == p.Kind && q.rec.Question == p.Question && !taken[q.rec.Id]
		})
		if at < 0 {
			if there++; there > maxPolls {
				return durable.Reject(durable.Invalid, "a codelab has at most %d polls", maxPolls)
			}
		} else {
			was := c.s.polls[at].rec
			taken[was.Id] = true
			p.Id, p.CreatedAt, p.Round = was.Id, was.CreatedAt, was.Round
			if was.State != pollDraft || proto.Equal(p, was) {
				continue
			}
		}
		d.Events = append(d.Events, &pb.Event{Body: &pb.Event_PollChanged{PollChanged: &pb.PollChanged{Poll: p}}})
	}
	return nil
}

// threadsAfter counts the threads that a text change makes stale, and the threads removed with
// their step.
func (c call) threadsAfter(m *pb.Codelab, steps []*pb.Step) (stale, gone int) {
	sums := map[string][]byte{}
	for _, st := range steps {
		sums[st.Id] = st.ContentSum
	}
	for _, t := range c.s.threads.All() {
		now, stays := m.GuideSum, true
		if t.TargetType == TargetStep {
			now, stays = sums[t.TargetStepId]
		}
		switch {
		case !stays:
			gone++
		case !c.s.stale(t) && !bytes.Equal(now, t.ContentSum):
			stale++
		}
	}
	return stale, gone
}

// stepMark matches the id that an author gives a step, in a comment at the beginning of its text.
var stepMark = regexp.MustCompile(`^(?:\s*<!--[^>]*-->)*?\s*<!--\s*id:\s*([^\s<>]{1,100})\s*-->`)

// StepMark returns the id that an author gave a step, or "".
func StepMark(st *pb.Step) string {
	if m := stepMark.FindStringSubmatch(st.ContentMarkdown[:min(len(st.ContentMarkdown), 2000)]); m != nil {
		return m[1]
	}
	return ""
}

// matchSteps returns, for each new step, the id of the corresponding old step, or "". First come the
// steps to which the author gave an id (StepMark). Such a step matches the old step with this id,
// or else the first old step to which the author gave the same id. Then titles match if they occur
// exactly once on each side. The remaining steps match in order.
func matchSteps(old, made []*pb.Step) []string {
	out := make([]string, len(made))
	taken := map[string]bool{}
	known := map[string]string{}
	for _, st := range old {
		known[st.Id] = st.Id
	}
	for _, st := range old {
		if mark := StepMark(st); mark != "" && known[mark] == "" {
			known[mark] = st.Id
		}
	}
	for i, st := range made {
		if id := known[StepMark(st)]; id != "" && !taken[id] {
			out[i], taken[id] = id, true
		}
	}
	var left []*pb.Step
	for _, st := range old {
		if !taken[st.Id] {
			left = append(left, st)
		}
	}
	var open []*pb.Step
	var at []int
	for i, st := range made {
		if out[i] == "" {
			open, at = append(open, st), append(at, i)
		}
	}
	for i, j := range pair(left, open, func(st *pb.Step) string { return strings.TrimSpace(st.Title) }) {
		if j >= 0 {
			out[at[i]] = left[j].Id
		}
	}
	return out
}

// pair returns, for each new element, the index of the corresponding old element, or -1. It pairs
// elements first by a key that occurs exactly once on each side, then by the order of the remaining
// elements.
func pair[T any](old, made []T, key func(T) string) []int {
	once := func(all []T) map[string]int {
		out := map[string]int{}
		for i, x := range all {
			if _, twice := out[key(x)]; twice {
				i = -1
			}
			out[key(x)] = i
		}
		return out
	}
	before, after := once(old), once(made)
	taken := make([]bool, len(old))
	out := make([]int, len(made))
	for i, x := range made {
		out[i] = -1
		if at, known := before[key(x)]; known && at >= 0 && after[key(x)] >= 0 {
			out[i], taken[at] = at, true
		}
	}
	next := 0
	for i := range made {
		for next < len(old) && taken[next] {
			next++
		}
		if out[i] < 0 && next < len(old) {
			out[i], taken[next] = next, true
		}
	}
	return out
}

// stepChanges returns the change of each step.
func stepChanges(old, made []*pb.Step) []StepChange {
	was := map[string]int{}
	for i, st := range old {
		was[st.Id] = i
	}
	out := make([]StepChange, 0, len(made))
	var order []int
	for _, st := range made {
		if i, stays := was[st.Id]; stays {
			order = append(order, i)
		}
	}
	stays := inOrder(order)
	for _, st := range made {
		at, known := was[st.Id]
		change, title := Same, ""
		if known && old[at].Title != st.Title {
			title = old[at].Title
		}
		switch {
		case !known:
			change = Added
		case !proto.Equal(st, old[at]):
			change = Altered
		case !stays[at]:
			change = Moved
		}
		out = append(out, StepChange{st.Id, st.Title, title, change})
		delete(was, st.Id)
	}
	for _, st := range old {
		if _, left := was[st.Id]; left {
			out = append(out, StepChange{st.Id, st.Title, "", Gone})
		}
	}
	return out
}

// inOrder returns the longest ascending subsequence of distinct numbers. Steps outside this
// subsequence count as moved.
func inOrder(all []int) map[int]bool {
	longest, before := make([]int, len(all)), make([]int, len(all))
	best := -1
	for i, x := range all {
		longest[i], before[i] = 1, -1
		for j := range i {
			if all[j] < x && longest[j]+1 > longest[i] {
				longest[i], before[i] = longest[j]+1, j
			}
		}
		if best < 0 || longest[i] > longest[best] {
			best = i
		}
	}
	out := map[int]bool{}
	for ; best >= 0; best = before[best] {
		out[all[best]] = true
	}
	return out
}

// moves maps the numbers of old steps to those of new steps, so that people stay on their step. It
// is computed once for all people.
type moves struct {
	old, made []*pb.Step
	// to[n] is the new number of old step n, counted from 1. A removed step has the number of the
	// nearest remaining step before it, or 1.
	to   []int32
	gone []bool // by the index of an old step
	from []int  // the index of each new step's old step, or -1
}

func movesOf(old, made []*pb.Step) moves {
	m := moves{old, made, make([]int32, len(old)+1), make([]bool, len(old)), make([]int, len(made))}
	now, before := map[string]int32{}, map[string]int{}
	for i, st := range old {
		before[st.Id] = i
	}
	for i, st := range made {
		now[st.Id] = int32(i + 1)
		if at, known := before[st.Id]; known {
			m.from[i] = at
		} else {
			m.from[i] = -1
		}
	}
	m.to[0] = 1
	for i, st := range old {
		n, stays := now[st.Id]
		if m.gone[i] = !stays; !stays {
			n = m.to[i]
		}
		m.to[i+1] = n
	}
	return m
}

// leaves reports whether an attendee's step is removed.
func (m moves) leaves(a *pb.Attendee) bool {
	n := int(a.CurrentStep)
	return n >= 1 && n <= len(m.old) && m.gone[n-1]
}

// followed moves an attendee to the new steps. The record a must not be shared yet.
func (m moves) followed(a *pb.Attendee, at int64) {
	old, made, to, was := m.old, m.made, m.to, a.ReachedAt
	current := to[min(max(int(a.CurrentStep), 0), len(old))]
	if m.leaves(a) {
		a.StepSince = at
	}
	furthest := current
	for n := 1; n <= min(int(a.FurthestStep), len(old)); n++ {
		furthest = max(furthest, to[n])
	}
	// The times at which the steps were reached. A new step counts as reached at the same time as
	// its predecessor, so that the time spent on it is zero.
	reached := make([]int64, 0, furthest)
	for _, i := range m.from[:min(int(furthest), len(made))] {
		when, known := int64(0), i >= 0 && i < min(len(was), len(old))
		if known {
			when = was[i]
		}
		if n := len(reached); n > 0 && (!known || when < reached[n-1]) {
			when = reached[n-1]
		} else if !known && len(was) > 0 {
			when = was[0]
		}
		reached = append(reached, when)
	}
	a.CurrentStep, a.FurthestStep, a.ReachedAt = current, furthest, reached
}
