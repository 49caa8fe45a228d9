package simulation

import (
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"atelier/actors/durable"
	"atelier/actors/files"
)

// contents stores file contents for all nodes. Each put creates its own object, so that a removal
// never affects an object that was put after the decision to remove (package persistence/objects).
type contents struct {
	mu  sync.Mutex
	all []*object // guarded by mu
	// slow counts the active faults that delay the store's responses. broken counts those that make
	// puts and removals fail. Both are guarded by mu.
	slow, broken int
}

// object is one stored object. Guarded by contents.mu.
type object struct {
	sum files.Sum
	put time.Time
	of  *mount // the process with a lease on the object; nil once released
	// young is the time before which the object is not removed, because a process that has ended
	// may have requested a reference to it.
	young time.Time
}

const (
	// contentGrace is the age below which a sweep spares an object.
	contentGrace = 3 * time.Second
	// staysYoung is how long an object stays after its process has ended without releasing its
	// lease. The real store counts one hour from the put.
	staysYoung = 2 * time.Minute
)

// has reports whether any object has this content.
func (c *contents) has(sum files.Sum) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.all, func(o *object) bool { return o.sum == sum })
}

func (c *contents) during(which *int) (end func()) {
	by := func(d int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		*which += d
	}
	by(1)
	return sync.OnceFunc(func() { by(-1) })
}

// mount implements files.Blobs for one process.
type mount struct {
	*contents
	s     *server
	rand  *rand.Rand // guarded by contents.mu
	ended bool       // guarded by contents.mu; the process has ended
}

var _ files.Blobs = (*mount)(nil)

// wait takes the time of one call to the store. It returns an error if the process has ended
// meanwhile, so that the caller stops there.
func (m *mount) wait() error {
	m.mu.Lock()
	d := time.Duration(m.rand.ExpFloat64() * float64(3*time.Millisecond) * float64(1+300*m.slow))
	m.mu.Unlock()
	<-m.s.clock.NewTimer(d).C()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended || m.s.dead.Load() {
		return errDown
	}
	return nil
}

// works returns an error while a fault makes the store fail.
func (m *mount) works() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken > 0 {
		return durable.ErrUnavailable
	}
	return nil
}

// Put implements files.Blobs. A failed or interrupted put may have stored the content.
func (m *mount) Put(r io.Reader, limit int64) (*files.Lease, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, errors.Join(files.ErrSource, err)
	case int64(len(b)) > limit:
		return nil, files.ErrTooLarge
	}
	failed := errors.Join(m.wait(), m.works())
	m.mu.Lock()
	o := &object{sum: sha256.Sum256(b), put: time.Now()}
	if failed == nil || m.rand.IntN(2) == 0 {
		m.all = append(m.all, o)
	}
	if failed == nil && !m.ended {
		o.of = m
	}
	m.mu.Unlock()
	if failed == nil {
		failed = m.wait() // the response takes time
	}
	if errors.Is(failed, errDown) {
		m.s.n.w.history.count("fault", interruptedPut)
	}
	if failed != nil {
		return nil, failed
	}
	return files.NewLease(o.sum, int64(len(b)), func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		o.of = nil
	}), nil
}

// interruptedPut is the name of the fault that kills the process during a put.
const interruptedPut = "kill during a put"

var errNoFiles = errors.New("simulated: objects are not stored in files")

// Spool implements files.Blobs. It always fails, because the simulation has no files of the
// operating system.
func (m *mount) Spool(io.Reader, int64) (*os.File, int64, error) { return nil, 0, errNoFiles }

// Open implements files.Blobs. It always fails, because the simulation has no files of the
// operating system.
func (m *mount) Open(files.Sum) (files.Content, int64, error) { return nil, 0, errNoFiles }

// Discard implements files.Blobs. It lists the objects, then checks for references, and then
// removes the listed objects.
func (m *mount) Discard(inUse files.InUse, sums ...files.Sum) error {
	for _, sum := range sums {
		if _, err := m.remove(inUse, sum, 0); err != nil {
			return err
		}
	}
	return nil
}

// Collect implements files.Blobs.
func (m *mount) Collect(inUse files.InUse) (removed int, err error) {
	m.mu.Lock()
	var sums []files.Sum
	for _, o := range m.all {
		if !slices.Contains(sums, o.sum) {
			sums = append(sums, o.sum)
		}
	}
	m.mu.Unlock()
	for _, sum := range sums {
		n, err := m.remove(inUse, sum, contentGrace)
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// remove removes all objects with the sum that have no lease, are no longer young, and are at least
// as old as grace. If something references the sum, it removes nothing.
func (m *mount) remove(inUse files.InUse, sum files.Sum, grace time.Duration) (removed int, err error) {
	if err := errors.Join(m.wait(), m.works()); err != nil {
		return 0, err
	}
	m.mu.Lock()
	now := time.Now()
	listed := map[*object]bool{}
	for _, o := range m.all {
		if o.sum == sum && o.of == nil && !now.Before(o.young) && now.Sub(o.put) >= grace {
			listed[o] = true
		}
	}
	m.mu.Unlock()
	if len(listed) == 0 {
		return 0, nil
	}
	if used, err := inUse(sum); err != nil || used {
		return 0, err
	}
	if err := m.wait(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = slices.DeleteFunc(m.all, func(o *object) bool {
		if listed[o] {
			removed++
		}
		return listed[o]
	})
	return removed, nil
}

// end ends the leases of the process.
func (m *mount) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	for _, o := range m.all {
		if o.of == m {
			o.of, o.young = nil, time.Now().Add(staysYoung)
		}
	}
}

// contentFaults lists the faults that affect stored objects, in runs with uploads.
var contentFaults = []fault{
	{"delay the object store", 2, func(w *world, _, _ *node, _ *rand.Rand) (func(), bool) {
		c := w.uploads.contents
		return c.during(&c.slow), true
	}},
	{"make the object store fail", 1, func(w *world, _, _ *node, _ *rand.Rand) (func(), bool) {
		c := w.uploads.contents
		return c.during(&c.broken), true
	}},
}
