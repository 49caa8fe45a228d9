package simulation

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// facts contains the oracle's records about references to uploads. Guarded by uploads.mu.
type facts struct {
	// weak contains uploads that were missing when a command referenced them. Register.ClaimKnown
	// skips such uploads, so a codelab can refer to a missing upload.
	weak map[string]bool
	// asking counts the commands in progress whose outcome is still unknown.
	asking map[string]int
}

func newFacts() facts { return facts{weak: map[string]bool{}, asking: map[string]int{}} }

// there reports whether an upload exists, with its record and content. there bypasses the nodes.
func (u *uploads) there(name string) (there bool) {
	u.w.store.View(func(j durable.Journal) {
		b, err := j.Get("uploads", []byte(name))
		up := &pb.Upload{}
		if err != nil || up.Decode(b) != nil {
			return
		}
		sum, _ := files.SumOf(up.Sum)
		there = u.contents.has(sum)
	})
	return there
}

// ask sends a command that can reference uploads. For a material, and in half of all other cases,
// the client also claims the uploads itself, as transport/rest does for a material. Either the
// claim fails with files.ErrMissing, or the upload stays. In all other cases the client relies on
// the claims of Codelab.Ask. Then only an upload that exists afterwards is certain to be claimed.
func (u *uploads) ask(c *client, s *server, ws codelab.Codelab, view *codelab.View, cmd codelab.Command) (any, uint64, error) {
	names := codelab.Mentions(cmd.Body)
	if len(names) == 0 {
		return ws.Ask(cmd)
	}
	_, strict := cmd.Body.(codelab.AddMaterial)
	strict = strict || c.Rand.IntN(2) == 0
	_, seq := ws.ViewAt()
	var trusted []string
	for _, name := range names {
		if strict {
			release, err := s.files.Claim(name)
			if errors.Is(err, files.ErrMissing) {
				if u.there(name) {
					u.w.model.fail("uploads", "%s reported to %s that %s is missing, although it exists", s.n.name, c.Name, name)
				}
				u.missing(s, view, seq, name)
				u.w.history.count("command", claimGone)
				return nil, 0, durable.Reject(durable.Invalid, "%s is not an uploaded file", name)
			}
			if err != nil {
				u.fails(s, "a claim", s.leaves(err))
				return nil, 0, err
			}
			u.w.history.count("command", claim)
			defer u.claimed(s, name, release)()
			continue
		}
		if !u.there(name) {
			u.missing(s, view, seq, name)
			u.weaken(name)
		}
		u.begin(name, 1)
		defer u.begin(name, -1)
		trusted = append(trusted, name)
	}
	v, at, err := ws.Ask(cmd)
	for _, name := range trusted {
		if !u.there(name) {
			u.weaken(name)
		}
	}
	return v, at, err
}

// claimed verifies the promise of a claim: the upload stays until the claim is released.
func (u *uploads) claimed(s *server, name string, release func()) (end func()) {
	check := func() {
		if !u.there(name) {
			u.w.model.fail("uploads", "%s is gone, although %s has a claim on it", name, s.n.name)
		}
	}
	check()
	return func() {
		check()
		release()
	}
}

func (u *uploads) begin(name string, by int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asking[name] += by
}

func (u *uploads) weaken(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.weak[name] = true
}

// firm reports whether all commands that referenced an upload had claimed it, so that it must
// exist.
func (u *uploads) firm(name string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return !u.weak[name] && u.asking[name] == 0
}

// reference is an object in a codelab that references an upload.
type reference struct {
	by files.By
	id string // of the material, message or comment; "" for all texts together
}

// references returns the references in a codelab, by the upload to which they refer.
func references(v *codelab.View) map[string][]reference {
	out := map[string][]reference{}
	in := func(text string, by files.By, id string) {
		files.Mentioned(text, func(name string, _ int) { out[name] = append(out[name], reference{by, id}) })
	}
	for _, m := range v.Materials.All() {
		if m.Upload != "" {
			in(files.Folder+m.Upload, files.ByMaterial, m.Id)
		}
	}
	for _, m := range v.Chat.All() {
		in(m.Message, files.ByTalk, m.Id)
	}
	for _, t := range v.Threads.All() {
		for _, m := range t.Messages {
			in(m.Message, files.ByTalk, m.Id)
		}
	}
	for _, name := range v.TextUploads() {
		in(files.Folder+name, files.ByText, "")
	}
	in(v.Pin.GetMessage(), files.ByText, "")
	return out
}

// open opens an upload or a submission that a view shows.
func (u *uploads) open(s *server, view *codelab.View, seq uint64, r *rand.Rand) {
	all := references(view)
	names := slices.Sorted(maps.Keys(all))
	if len(names) > 0 {
		name := names[r.IntN(len(names))]
		u.w.history.count("command", openUpload)
		up, err := s.files.Get(name)
		switch {
		case err == nil:
			sum, _ := files.SumOf(up.Sum)
			if s.contents.wait() != nil || u.contents.has(sum) {
				break
			}
			fallthrough
		case errors.Is(err, files.ErrMissing):
			u.missing(s, view, seq, name)
		default:
			u.fails(s, "opening an upload", s.leaves(err))
		}
	}
	for _, work := range view.Submissions.All() {
		sum, file := files.SumOf(work.Sum)
		if !file || u.contents.has(sum) {
			continue
		}
		if now, _ := u.newest(s); now != nil && now.Submission(work.Id) != nil {
			u.w.model.fail("uploads", "the content of submission %s, which %s shows at %d, is gone", work.Id, s.n.name, seq)
		}
	}
}

// missing is called for an upload that was found missing after a view was read. This is correct if
// the reference was removed since, or was never firm. An upload that is correctly missing never
// reappears.
func (u *uploads) missing(s *server, before *codelab.View, seq uint64, name string) {
	if !u.firm(name) {
		return
	}
	view, at := u.newest(s)
	if view == nil {
		return
	}
	still := references(view)[name]
	for _, by := range references(before)[name] {
		if slices.Contains(still, by) && (by.by != files.ByText || !u.w.model.textsChanged(seq, at)) && u.firm(name) {
			u.w.model.fail("uploads", "%s is gone although the codelab refers to it by %s %s: %s shows that at %d and at %d", name, by.by, by.id, s.n.name, seq, at)
		}
	}
}

// newest returns a node's view once the view shows everything that is committed now. It waits for
// at most 2 s, and otherwise returns nil. A view does not show committed commands before they are
// acknowledged. A reference and its upload can therefore be gone while the last view still contains
// them.
func (u *uploads) newest(s *server) (*codelab.View, uint64) {
	committed := u.w.model.head()
	for range 10 {
		now, ws, err := s.n.get()
		if err != nil || now != s {
			return nil, 0
		}
		if view, at := ws.ViewAt(); at >= committed {
			return view, at
		}
		if !u.w.pause(200 * time.Millisecond) {
			break
		}
	}
	return nil, 0
}

// head returns the position of the newest committed record.
func (m *model) head() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.records))
}

// textsChanged reports whether an event after the position from, up to the position to, changes the
// references in texts.
func (m *model) textsChanged(from, to uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for seq := from + 1; seq <= to && seq <= uint64(len(m.records)); seq++ {
		e, err := m.event(seq)
		if err != nil {
			return true
		}
		switch e.Body.(type) {
		case *pb.Event_Updated, *pb.Event_StepsReplaced, *pb.Event_Pinned, *pb.Event_QuizzesReplaced:
			return true
		}
	}
	return false
}

// settle opens every referenced file at every node, after all activity has ended.
func (u *uploads) settle(when string) {
	if u.w.plan.Uploaders == 0 {
		return
	}
	r := u.w.plan.random(ofUploaders - 2)
	for _, n := range u.w.nodes {
		s := n.server.Load()
		if s == nil || u.w.model.failed() != "" {
			continue
		}
		view, seq := u.newest(s)
		// A failed commit may have stopped the actor just now. The actor starts again.
		for try := 0; view == nil && try < settleIn; try++ {
			time.Sleep(time.Second)
			view, seq = u.newest(s)
		}
		if view == nil {
			u.w.model.fail("answers", "%s, node %s does not show all committed changes", when, n.name)
			return
		}
		u.open(s, view, seq, r)
		u.lookAt(when, s, view)
		u.mu.Lock()
		labs := slices.Clone(u.labs)
		u.mu.Unlock()
		for _, lab := range labs {
			u.mu.Lock()
			deleting := lab.deleting
			u.mu.Unlock()
			if deleting {
				continue
			}
			if ws, err := s.labs.Get(lab.id); err != nil {
				u.w.model.fail("answers", "%s, codelab %s at %s: %v", when, lab.id, n.name, err)
			} else {
				u.lookAt(when, s, ws.View())
			}
		}
	}
}

// lookAt reports missing files that a codelab references.
func (u *uploads) lookAt(when string, s *server, view *codelab.View) {
	for name, by := range references(view) {
		if up, err := s.files.Get(name); !u.firm(name) {
			continue
		} else if err != nil {
			u.w.model.fail("uploads", "%s, %s cannot read %s although %v refers to it: %v", when, s.n.name, name, by, err)
		} else if sum, _ := files.SumOf(up.Sum); !u.contents.has(sum) {
			u.w.model.fail("uploads", "%s, the content of %s is gone although %v refers to it", when, name, by)
		}
	}
	for _, work := range view.Submissions.All() {
		if sum, file := files.SumOf(work.Sum); file && !u.contents.has(sum) {
			u.w.model.fail("uploads", "%s, the content of submission %s is gone", when, work.Id)
		}
	}
}
