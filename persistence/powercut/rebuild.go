package powercut

import (
	"fmt"
	"math/rand/v2"
)

// PageBytes is the unit in which a write can be torn.
const PageBytes = 4096

// Order determines how far changes of names can be reordered.
type Order uint8

const (
	// Journaled is the order of ext4 and XFS. Changes of names and truncations reach the disk in
	// call order, so the last ones can be lost. If a sync makes a change of a name durable, all
	// earlier changes of names and truncations are durable too.
	Journaled Order = iota
	// Unordered means that each unsynced creation or change of a name can be present or missing. An
	// unsynced removal or truncation is present only if all earlier changes of names are.
	Unordered
)

// Cut is one possible moment of a power cut.
type Cut struct {
	// Point is the number of calls before the cut.
	Point int
	// Seed determines which of the unsynced changes are present.
	Seed  uint64
	Order Order
}

// Rebuild returns one possible state of the folder after a power failure. It depends only on the
// trace and the cut. The package documentation lists the guarantees of a sync.
func (t Trace) Rebuild(c Cut) *Folder {
	r := rebuild{trace: t[:c.Point], cut: c, rand: rand.New(rand.NewPCG(c.Seed, uint64(c.Point))), styles: map[uint32]style{}}
	r.findSynced()
	r.chooseNames()
	f := newFolder()
	f.Reach = c.Point
	t[:c.Point].At(func(i int, op *Op, path string) { r.apply(f, i, op, path) })
	t.early(c.Point, func(i int, op *Op) { r.applyEarly(f, i, op) })
	return f
}

type rebuild struct {
	trace  Trace
	cut    Cut
	rand   *rand.Rand
	synced []bool // by position: the change is on disk
	there  []bool // by position: the change of names or the truncation is present
	styles map[uint32]style
}

// style determines which unsynced writes of a file are present. There are several styles, because
// independent random pages alone would rarely reveal faults.
type style uint8

const (
	coin   style = iota // each page independently
	none                // nothing
	all                 // everything
	early               // all writes up to a random one
	styles = iota
)

func isName(k Kind) bool { return k <= Rename }

func isData(k Kind) bool { return k >= Write && k <= Chmod }

// findSynced reads the trace backwards from the cut. A change is durable if the next sync of its
// file succeeded. A name is durable if any later sync of its folder succeeded.
func (r *rebuild) findSynced() {
	r.synced = make([]bool, len(r.trace))
	lasts := map[uint32]bool{}
	for i := len(r.trace) - 1; i >= 0; i-- {
		switch op := &r.trace[i]; {
		case op.Kind == Sync:
			lasts[op.File] = !op.Failed
		case op.Kind == SyncFolder:
			lasts[op.File] = lasts[op.File] || !op.Failed
		case op.Kind == Rename:
			r.synced[i] = lasts[op.Folder] || lasts[op.To]
		case isName(op.Kind):
			r.synced[i] = lasts[op.Folder]
		case isData(op.Kind):
			r.synced[i] = lasts[op.File]
		}
	}
}

// chooseNames decides which changes of names are present.
func (r *rebuild) chooseNames() {
	r.there = make([]bool, len(r.trace))
	last, end := -1, r.rand.IntN(4)
	for i := range r.trace {
		if r.synced[i] && isName(r.trace[i].Kind) {
			last = i
		}
	}
	switch end { // the present calls after the last synced one: none, all, or some
	case 0:
	case 1:
		last = len(r.trace)
	default:
		last += r.rand.IntN(len(r.trace) - last)
	}
	whole := true // all changes of names so far are present
	for i := range r.trace {
		op := &r.trace[i]
		switch {
		case r.cut.Order == Journaled:
			r.there[i] = i <= last
		case r.synced[i]:
			r.there[i] = true
		default:
			r.there[i] = (end == 1 || end > 1 && r.rand.IntN(2) == 0) && (whole || !removes(op.Kind))
		}
		if isName(op.Kind) && !r.there[i] {
			whole = false
		}
	}
}

func removes(k Kind) bool { return k == Unlink || k == Rmdir || k == Truncate }

func (r *rebuild) styleOf(file uint32) style {
	s, ok := r.styles[file]
	if !ok {
		s = style(r.rand.IntN(int(styles)))
		r.styles[file] = s
	}
	if s == early && r.rand.IntN(4) == 0 {
		r.styles[file] = none // from here on
	}
	return s
}

// keeps decides whether an unsynced page, or another unsynced change, is present.
func (r *rebuild) keeps(s style) bool {
	return s == all || s == early || s == coin && r.rand.IntN(2) == 0
}

func (r *rebuild) apply(f *Folder, i int, op *Op, path string) {
	if isName(op.Kind) {
		if !r.synced[i] {
			f.noteFate(op, path, boolText(r.there[i], "there", "lost"))
		}
		f.applyName(op, r.there[i])
		return
	}
	if !isData(op.Kind) {
		return
	}
	target := f.files[op.File]
	if r.synced[i] {
		target.change(op, nil)
		return
	}
	if op.Kind != Write {
		kept := r.keeps(r.styleOf(op.File))
		if op.Kind == Truncate {
			kept = r.there[i]
		}
		if kept {
			target.change(op, nil)
		}
		f.noteFate(op, path, boolText(kept, "there", "lost"))
		return
	}
	kept, pages := r.tear(target, op)
	f.noteFate(op, path, fmt.Sprintf("%d of %d pages present", kept, pages))
}

// tear applies some pages of a write.
func (r *rebuild) tear(target *file, op *Op) (kept, pages int) {
	s := r.styleOf(op.File)
	target.change(op, func() bool {
		pages++
		if !r.keeps(s) {
			return false
		}
		kept++
		return true
	})
	return kept, pages
}

// early calls visit for the mapped writes that directly follow the point. The program may have
// stored their data before the cut, and the kernel may have written it without a sync. Mapped
// writes after another call are excluded, because their data may have been stored after that call.
func (t Trace) early(point int, visit func(i int, op *Op)) {
	for i := point; i < len(t) && t[i].Kind == Write && t[i].Mapped; i++ {
		visit(i, &t[i])
	}
}

func (r *rebuild) applyEarly(f *Folder, i int, op *Op) {
	target := f.files[op.File]
	if target == nil || op.Offset > int64(len(target.data)) {
		return
	}
	if kept, pages := r.tear(target, op); kept > 0 {
		f.Reach = i + 1
		f.noteFate(op, fmt.Sprintf("file %d", op.File), fmt.Sprintf("%d of %d pages present, mapped and not yet written", kept, pages))
	}
}

func boolText(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

func (o Order) String() string { return [...]string{"journaled", "unordered"}[o] }
