package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/codelab/draw"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// These operations on files are not in package draw.
const (
	upload          = "Upload"
	importLab       = "Create with new uploads"
	copyLab         = "Create with known uploads"
	claim           = "Claim"
	claimGone       = "Claim of a removed upload"
	drop            = "Remove an upload"
	openUpload      = "Open an upload"
	sweptReferences = "Sweep of references"
	sweptUploads    = "Sweep of uploads"
	sweptContents   = "Sweep of objects"
)

const (
	// uploadGrace is the lifetime of an upload without references. fileGrace is the lifetime of an
	// upload after a text has dropped the last reference to it.
	uploadGrace = time.Second
	fileGrace   = 2 * time.Second
	sweepEvery  = 700 * time.Millisecond
)

// uploads contains the uploads of a run and their references.
type uploads struct {
	w        *world
	contents *contents

	mu    sync.Mutex
	names []string             // guarded by mu; registered and acknowledged
	sums  map[string]files.Sum // guarded by mu; by name
	labs  []*ownLab            // guarded by mu; separate codelabs that refer to uploads
	facts                      // guarded by mu
}

// ownLab is a codelab that a client created for its materials.
type ownLab struct {
	id       string
	names    []string
	deleting bool // guarded by uploads.mu
}

func newUploads(w *world) *uploads {
	return &uploads{w: w, contents: &contents{}, sums: map[string]files.Sum{}, facts: newFacts()}
}

// newRegister creates the register of a server, over the shared contents.
func (w *world) newRegister(s *server) *files.Register {
	s.contents = &mount{contents: w.uploads.contents, s: s, rand: w.plan.random(ofUploaders<<16 + s.n.starts<<8 + uint64(s.n.name[1]))}
	var blobs files.Blobs = s.contents
	if w.lies.blobs != nil {
		blobs = w.lies.blobs(blobs)
	}
	r := files.NewRegister(s.shared, blobs, uploadGrace, s.clock.Now)
	r.Share()
	return r
}

// sweep calls Register.Sweep at every tick, like Register.SweepEvery in cmd/atelier/service, and
// records what was removed.
func (s *server) sweep() {
	tick := s.clock.NewTicker(sweepEvery)
	defer tick.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C():
		}
		swept, err := s.files.Sweep(ctx)
		if s.n.w.uploads.fails(s, "a sweep", err) {
			continue
		}
		for what, n := range map[string]int{sweptReferences: swept.References, sweptUploads: swept.Uploads, sweptContents: swept.Contents} {
			if n > 0 {
				s.n.w.history.count("command", what)
			}
		}
		if swept != (files.Swept{}) {
			s.n.w.history.add("sweep", s.n.name, "removes %+v", swept)
		}
	}
}

// fails reports whether a call failed. An unexpected error is a finding.
func (u *uploads) fails(s *server, what string, err error) bool {
	if known := durable.Refused(err) || errors.Is(err, errDown) || isOne(err, expected); err != nil && !known {
		u.w.model.fail("answers", "%s returned the unexpected error %v for %s", s.n.name, err, what)
	}
	return err != nil
}

// uploader is a client that uploads files and references them.
type uploader struct{ *client }

func (u *uploads) act(until time.Time, all *sync.WaitGroup) {
	if u.w.plan.Uploaders == 0 {
		return
	}
	all.Go(func() { u.w.disturb(contentFaults, u.w.plan.random(ofUploaders-1), until) })
	for i := range u.w.plan.Uploaders {
		p := uploader{newClient(u.w, fmt.Sprintf("u%d", i+1), u.w.plan.random(ofUploaders+uint64(i)))}
		all.Go(func() {
			for time.Now().Before(until) && u.w.pause(time.Duration(p.Rand.ExpFloat64()*float64(60*time.Millisecond))) {
				p.act(u.w.nodes[p.Rand.IntN(len(u.w.nodes))])
			}
		})
	}
}

// referring lists the commands that can reference an upload. dropping lists the commands that
// remove a reference.
var (
	referring = []string{"AddMaterial", "AddMaterial", "PostChat", "PostChat", "Annotate", "Reply", "Update", "ReplaceSteps", "SetPin", "ReplaceQuizzes"}
	dropping  = []string{"DeleteMaterial", "DeleteMaterial", "DeleteChat", "DeleteComment", "Remove", "Update", "ReplaceSteps", "SetPin"}
)

func (p uploader) act(n *node) {
	s, ws, err := n.get()
	if err != nil {
		p.note(n, "reads", 0, err)
		return
	}
	view, seq := ws.ViewAt()
	p.Uploads = p.w.uploads.some(p.Rand)
	pick := func(words []string) string { return words[p.Rand.IntN(len(words))] }
	switch draw := p.Rand.IntN(40); {
	case draw < 5 || len(p.Uploads) == 0:
		_ = p.send(s)
	case draw < 9:
		p.meet(s)
	case draw < 18:
		_ = p.sendCommand(n, s, ws, view, pick(referring))
	case draw < 23:
		p.Uploads = nil
		_ = p.sendCommand(n, s, ws, view, pick(dropping))
	case draw < 26:
		p.submit(s, ws, view)
	case draw < 28:
		_ = p.sendCommand(n, s, ws, view, "DeleteSubmission")
	case draw < 29:
		p.importLab(s)
	case draw < 31:
		p.copyLab(s)
	case draw < 33:
		p.deleteLab(s)
	default:
		p.w.uploads.open(s, view, seq, p.Rand)
	}
}

// some returns uploads to reference. It prefers the newest uploads, so that several clients use the
// same ones and collide.
func (u *uploads) some(r *rand.Rand) (names []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for range min(len(u.names), 2) {
		names = append(names, u.names[max(0, len(u.names)-1-int(r.ExpFloat64()*3))])
	}
	return names
}

// put stores content that an upload can refer to. In half the cases, the content is one of four
// texts, so that several uploads share it.
func (p uploader) put(s *server) (*files.Lease, error) {
	text := fmt.Sprint("content ", p.Rand.IntN(4))
	if p.Rand.IntN(2) == 0 {
		text = p.Mark("content")
	}
	return s.files.Blobs().Put(strings.NewReader(text), 100)
}

// meet uploads a file that nothing references. Two clients then reference it while a third removes
// it, each on a random node.
func (p uploader) meet(s *server) {
	name := p.send(s)
	if name == "" {
		return
	}
	if p.Rand.IntN(2) == 0 { // in half the cases, the upload was claimed and released before
		release, err := s.files.Claim(name)
		if errors.Is(err, files.ErrMissing) || p.w.uploads.fails(s, "a claim", s.leaves(err)) {
			return
		}
		release()
	}
	var all sync.WaitGroup
	for i := range 3 {
		tab := newClient(p.w, p.Mark("tab"), rand.New(rand.NewPCG(p.Rand.Uint64(), 0)))
		tab.Uploads = []string{name}
		all.Go(func() {
			n := p.w.nodes[tab.Rand.IntN(len(p.w.nodes))]
			s, ws, err := n.get()
			if err != nil {
				return
			}
			time.Sleep(time.Duration(tab.Rand.IntN(int(6 * time.Millisecond))))
			if i > 0 {
				_ = tab.sendCommand(n, s, ws, ws.View(), referring[tab.Rand.IntN(len(referring))])
				return
			}
			err = s.files.Drop(name)
			tab.note(n, "drops "+name, 0, err)
			if !p.w.uploads.fails(s, "a removal", s.leaves(err)) {
				p.w.history.count("command", drop)
			}
		})
	}
	all.Wait()
}

// send uploads a file, like package transport/intake, and returns the file's name.
func (p uploader) send(s *server) string {
	lease, err := p.put(s)
	if err = s.leaves(err); err != nil {
		p.note(s.n, "uploads", 0, err)
		return ""
	}
	up := p.record(s, lease)
	err = s.leaves(s.files.Add(up))
	p.note(s.n, "uploads "+up.Name, 0, err)
	if p.w.uploads.fails(s, "an upload", err) {
		return "" // keep the lease, because the upload may have been recorded
	}
	lease.Release()
	p.w.history.count("command", upload)
	p.w.uploads.add(up)
	return up.Name
}

func (p uploader) record(s *server, lease *files.Lease) *pb.Upload {
	return &pb.Upload{Name: files.NewName(files.Materials, "txt"), Sum: lease.Sum[:], Size: lease.Size, CreatedAt: s.clock.Now().UnixMilli()}
}

func (u *uploads) add(up *pb.Upload) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.names = append(u.names, up.Name)
	u.sums[up.Name], _ = files.SumOf(up.Sum)
}

// submit submits a file, like transport/rest.
func (p uploader) submit(s *server, ws codelab.Codelab, view *codelab.View) {
	lease, err := p.put(s)
	if err = s.leaves(err); err != nil {
		p.note(s.n, "puts a submission", 0, err)
		return
	}
	p.Sums = [][]byte{lease.Sum[:]}
	err = p.sendCommand(s.n, s, ws, view, "AddSubmission")
	p.Sums = nil
	refused := durable.Refused(err) || errors.Is(err, errNothing)
	if err == nil || refused {
		lease.Release()
	}
	if refused {
		p.w.uploads.fails(s, "discarding an object", s.files.Discard(lease.Sum[:]))
	}
}

// importLab creates a codelab together with a new upload.
func (p uploader) importLab(s *server) {
	lease, err := p.put(s)
	if err = s.leaves(err); err != nil {
		p.note(s.n, "puts a file to be imported", 0, err)
		return
	}
	up := p.record(s, lease)
	err = p.create(s, importLab, []*pb.Upload{up}, up.Name)
	switch {
	case err == nil:
		lease.Release()
		p.w.uploads.add(up)
	case durable.Refused(err):
		lease.Release()
		p.w.uploads.fails(s, "discarding an object", s.files.Discard(lease.Sum[:]))
	}
}

// copyLab creates a codelab from existing uploads.
func (p uploader) copyLab(s *server) {
	u := p.w.uploads
	release, err := s.files.Claim(p.Uploads...)
	if errors.Is(err, files.ErrMissing) || u.fails(s, "a claim", s.leaves(err)) {
		return
	}
	defer release()
	_ = p.create(s, copyLab, nil, p.Uploads...)
}

func (p uploader) create(s *server, what string, made []*pb.Upload, names ...string) error {
	c := &codelab.Create{Codelab: &pb.Codelab{Title: p.Mark("lab"), IsPublic: true}, Uploads: made}
	for _, name := range names {
		c.Materials = append(c.Materials, &pb.Material{Title: "m", MaterialType: codelab.File, Upload: name})
	}
	m, err := s.labs.Create(draw.Facilitator, c)
	err = s.leaves(err)
	p.note(s.n, fmt.Sprintf("%s %v", what, names), 0, err)
	if p.w.uploads.fails(s, what, err) {
		return err
	}
	p.w.history.count("command", what)
	p.w.uploads.mu.Lock()
	defer p.w.uploads.mu.Unlock()
	p.w.uploads.labs = append(p.w.uploads.labs, &ownLab{id: m.Id, names: names})
	return nil
}

// deleteLab deletes one of the separate codelabs.
func (p uploader) deleteLab(s *server) {
	u := p.w.uploads
	u.mu.Lock()
	var lab *ownLab
	if len(u.labs) > 0 {
		lab = u.labs[p.Rand.IntN(len(u.labs))]
		lab.deleting = true
	}
	u.mu.Unlock()
	if lab == nil {
		return
	}
	err := s.leaves(s.labs.Delete(draw.Facilitator, lab.id))
	p.note(s.n, "deletes the codelab "+lab.id, 0, err)
	if !u.fails(s, "deleting a codelab", err) {
		p.w.model.deletedLab(lab.id)
	}
}

// release removes the uploads whose last reference a command has removed, as transport/rest does.
func (u *uploads) release(s *server, body codelab.Body, value any) {
	if u.w.plan.Uploaders == 0 {
		return
	}
	var gone files.Forgotten
	switch v := value.(type) {
	case files.Forgotten: // Remove, DeleteChat
		gone = v
	case codelab.CommentDeletion:
		gone = v.Files
	case *pb.Material:
		if _, deleted := body.(codelab.DeleteMaterial); deleted && v.Upload != "" {
			gone.Uploads = []string{v.Upload}
		}
	case *pb.Submission:
		if _, deleted := body.(codelab.DeleteSubmission); deleted {
			gone.Submissions = []*pb.Submission{v}
		}
	}
	u.fails(s, "removing files", s.files.Release(gone))
}
