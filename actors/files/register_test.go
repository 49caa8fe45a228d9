package files

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"atelier/actors/catalog"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/persistence/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf is a Blobs in memory without a grace period.
type shelf struct {
	mu       sync.Mutex
	contents map[Sum]bool
	leases   map[Sum]int
}

func (s *shelf) Put(r io.Reader, limit int64) (*Lease, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := Sum(sha256.Sum256(b))
	s.contents[sum] = true
	s.leases[sum]++
	return NewLease(sum, int64(len(b)), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.leases[sum]--
	}), nil
}

func (s *shelf) Spool(io.Reader, int64) (*os.File, int64, error) { panic("not used") }

// Open only verifies that the object exists; tests do not read its contents.
func (s *shelf) Open(sum Sum) (Content, int64, error) {
	if !s.has(sum[:]) {
		return nil, 0, ErrMissing
	}
	f, err := os.Open(os.DevNull)
	return f, 0, err
}

func (s *shelf) Discard(inUse InUse, sums ...Sum) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sum := range sums {
		if used, err := inUse(sum); err != nil {
			return err
		} else if !used && s.leases[sum] == 0 {
			delete(s.contents, sum)
		}
	}
	return nil
}

func (s *shelf) Collect(inUse InUse) (int, error) {
	s.mu.Lock()
	var all []Sum
	for sum := range s.contents {
		all = append(all, sum)
	}
	s.mu.Unlock()
	before := len(all)
	err := s.Discard(inUse, all...)
	s.mu.Lock()
	defer s.mu.Unlock()
	return before - len(s.contents), err
}

func (s *shelf) has(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum, _ := SumOf(b)
	return s.contents[sum]
}

type world struct {
	t       testing.TB
	journal *memory.Store
	shelf   *shelf
	now     time.Time
	*Register
}

const grace = time.Hour

func newWorld(t testing.TB) *world {
	w := &world{
		t: t, journal: memory.New(), now: time.UnixMilli(1_800_000_000_000),
		shelf: &shelf{contents: map[Sum]bool{}, leases: map[Sum]int{}},
	}
	w.Register = NewRegister(w.journal, w.shelf, grace, func() time.Time { return w.now })
	t.Cleanup(func() { _ = w.journal.Close() })
	return w
}

func (w *world) commit(rows ...durable.Row) {
	w.t.Helper()
	if err := durable.Commit(w.journal, rows); err != nil {
		w.t.Fatal(err)
	}
}

// lab lists a codelab; unlist removes it from the list.
func (w *world) lab(id string)    { w.commit(catalog.ListRow(&pb.Codelab{Id: id})) }
func (w *world) unlist(id string) { w.commit(catalog.UnlistRow(id)) }

func (w *world) upload(content string) *pb.Upload {
	w.t.Helper()
	l, err := w.shelf.Put(strings.NewReader(content), 100)
	if err != nil {
		w.t.Fatal(err)
	}
	defer l.Release()
	u := &pb.Upload{Name: NewName(Materials, "txt"), Sum: l.Sum[:], Size: l.Size, CreatedAt: w.now.UnixMilli()}
	if err := w.Add(u); err != nil {
		w.t.Fatal(err)
	}
	return u
}

func (w *world) there(u *pb.Upload) bool {
	w.t.Helper()
	got, err := w.Get(u.Name)
	if err != nil && !errors.Is(err, ErrMissing) {
		w.t.Fatal(err)
	}
	if err == nil && !bytes.Equal(got.Sum, u.Sum) {
		w.t.Fatal("the upload refers to another content")
	}
	return err == nil
}

func (w *world) sweep() Swept {
	w.t.Helper()
	s, err := w.Sweep(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func TestAnUploadStaysWhileItIsUsed(t *testing.T) {
	w := newWorld(t)
	w.lab("a")
	w.lab("b")
	u, twin := w.upload("content"), w.upload("content")
	w.commit(UseRow(u.Name, "a", ByMaterial), UseRow(u.Name, "a", ByText), UseRow(u.Name, "b", ByMaterial))
	drop := func() {
		t.Helper()
		if err := w.Drop(u.Name, "materials/none"); err != nil {
			t.Fatal(err)
		}
	}
	drop()
	w.commit(UnuseRow(u.Name, "a", ByMaterial, 0), UnuseRow(u.Name, "a", ByText, 0))
	if drop(); !w.there(u) {
		t.Fatal("the upload was dropped although another codelab uses it")
	}
	w.unlist("b")
	if drop(); w.there(u) || !w.shelf.has(u.Sum) {
		t.Error("the unused upload is still there, or its twin's content is not")
	}
	if err := w.Drop(twin.Name); err != nil || w.shelf.has(u.Sum) {
		t.Error("the content without uploads is still stored:", err)
	}
}

// A missing stored object is reported if it is in use.
func TestMissingContentIsReported(t *testing.T) {
	w := newWorld(t)
	w.lab("a")
	w.upload("there")
	sum, _ := SumOf(w.upload("lost").Sum)
	delete(w.shelf.contents, sum)
	w.commit(SubmissionRow(bytes.Repeat([]byte{7}, len(sum)), "over", "s1"))
	var found []Sum
	if err := w.Missing(func(s Sum) { found = append(found, s) }); err != nil || len(found) != 1 || found[0] != sum {
		t.Errorf("Missing reported %v, %v", found, err)
	}
}

func TestAClaimedUploadIsNotDropped(t *testing.T) {
	w := newWorld(t)
	u := w.upload("content")
	release, err := w.Claim(u.Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Drop(u.Name); err != nil || !w.there(u) {
		t.Fatal("a claimed upload was dropped:", err)
	}
	release()
	release()
	if err := w.Drop(u.Name); err != nil || w.there(u) {
		t.Error("an unclaimed upload was not dropped:", err)
	}
	if _, err := w.Claim(u.Name); !errors.Is(err, ErrMissing) {
		t.Errorf("claiming a dropped upload returned %v, want ErrMissing", err)
	}
	if release, err := w.ClaimKnown(u.Name); err != nil {
		t.Error(err)
	} else {
		release()
	}
	if len(w.claims) != 0 || len(w.leaving) != 0 {
		t.Errorf("claims and removals left: %v, %v", w.claims, w.leaving)
	}
}

func TestASweepRemovesWhatACrashLeft(t *testing.T) {
	w := newWorld(t)
	w.lab("a")
	fresh, used, lingering := w.upload("one"), w.upload("two"), w.upload("three")
	w.commit(UseRow(used.Name, "a", ByText), UnuseRow(lingering.Name, "a", ByText, 2*grace),
		UseRow(fresh.Name, "gone", ByMaterial))
	sum := sha256.Sum256([]byte("four"))
	for _, lab := range []string{"a", "gone"} {
		w.commit(SubmissionRow(sum[:], lab, "s"))
	}
	w.shelf.contents[sum] = true
	if s := w.sweep(); s != (Swept{References: 2}) {
		t.Errorf("a sweep of fresh uploads removed %v", s)
	}
	w.now = w.now.Add(grace + time.Second)
	if s := w.sweep(); s != (Swept{Uploads: 1}) || w.there(fresh) || !w.there(used) || !w.there(lingering) || !w.shelf.has(sum[:]) {
		t.Errorf("a sweep after the grace period removed %v", s)
	}
	orphan, _ := w.shelf.Put(strings.NewReader("never recorded"), 100)
	orphan.Release()
	if s := w.sweep(); s != (Swept{Contents: 1}) {
		t.Errorf("a sweep of unrecorded content removed %v", s)
	}
	if err := w.Forget("a", Forgotten{Uploads: []string{used.Name}, Submissions: []*pb.Submission{{Id: "s", Sum: sum[:]}, {Id: "link"}}}); err != nil {
		t.Fatal(err)
	}
	if w.there(used) || w.shelf.has(sum[:]) || w.shelf.has(used.Sum) {
		t.Error("files of a forgotten codelab are still stored")
	}
}

// Forgetting a codelab removes its references of every kind. A later sweep finds nothing, and the
// files of others stay.
func TestAForgottenCodelabHasNoReferences(t *testing.T) {
	for _, by := range []By{ByMaterial, ByText, ByTalk} {
		w := newWorld(t)
		w.lab("a")
		w.lab("b")
		alone, shared := w.upload("one"), w.upload("two")
		w.commit(UseRow(alone.Name, "a", by), UseRow(shared.Name, "a", by), UseRow(shared.Name, "b", by), SubmissionRow(shared.Sum, "a", "s"))
		forgotten := Forgotten{Uploads: []string{alone.Name, shared.Name}, Submissions: []*pb.Submission{{Id: "s", Sum: shared.Sum}}}
		if err := w.Forget("a", forgotten); err != nil {
			t.Fatal(err)
		}
		if w.there(alone) || w.shelf.has(alone.Sum) || !w.there(shared) || !w.shelf.has(shared.Sum) {
			t.Errorf("by %s: its own upload is there: %v, the shared one: %v", by, w.there(alone), w.there(shared))
		}
		w.unlist("a")
		if s := w.sweep(); s != (Swept{}) {
			t.Errorf("by %s: a sweep removed %v", by, s)
		}
	}
}

// An upload that was claimed and recorded as used can be read, even if other callers drop it
// meanwhile.
func TestReferencedUploadsAreNeverRemoved(t *testing.T) {
	w := newWorld(t)
	neverMeet(t, w, func(int) *Register { return w.Register })
}

// The same holds if each caller is on its own node.
func TestReferencedUploadsAreNeverRemovedAcrossNodes(t *testing.T) {
	w := newWorld(t)
	var nodes [4]*Register
	for i := range nodes {
		nodes[i] = NewRegister(w.journal, w.shelf, time.Hour, time.Now)
		nodes[i].Share()
	}
	neverMeet(t, w, func(i int) *Register { return nodes[i] })
}

func neverMeet(t *testing.T, w *world, register func(i int) *Register) {
	var labs []string
	for i := range 4 {
		labs = append(labs, fmt.Sprint("lab", i))
		w.lab(labs[i])
	}
	var mu sync.Mutex
	u := w.upload("shared")
	var wg sync.WaitGroup
	for i, lab := range labs {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			for range 200 {
				mu.Lock()
				name := u.Name
				mu.Unlock()
				release, err := register(i).Claim(name)
				if errors.Is(err, ErrMissing) {
					mu.Lock()
					if u.Name == name {
						u = w.upload("shared")
					}
					mu.Unlock()
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				w.commit(UseRow(name, lab, ByMaterial))
				release()
				if got, err := w.Get(name); err != nil || !w.shelf.has(got.Sum) {
					t.Errorf("a claimed and used upload cannot be read: %v", err)
				}
				w.commit(UnuseRow(name, lab, ByMaterial, 0))
				if rng.IntN(2) == 0 {
					if err := register(i).Drop(name); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// The removal of an upload on one node fails if another node claims the upload. In an earlier
// version, the first node meanwhile reported the upload as missing, and skipped it in the claims of
// a text.
func TestAnUploadCanBeClaimedDuringAFailingDrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, nodes := memory.Share(2)
		defer func() { _ = db.Close() }()
		shelf := &shelf{contents: map[Sum]bool{}, leases: map[Sum]int{}}
		var r [2]*Register
		for i, n := range nodes {
			r[i] = NewRegister(n, shelf, grace, time.Now)
			r[i].Share()
		}
		lease, err := shelf.Put(strings.NewReader("content"), 100)
		if err != nil {
			t.Fatal(err)
		}
		u := &pb.Upload{Name: NewName(Materials, "txt"), Sum: lease.Sum[:]}
		if err := r[0].Add(u); err != nil {
			t.Fatal(err)
		}
		lease.Release()
		goOn := nodes[0].Hold()
		dropped, claimed := make(chan error, 1), make(chan error, 1)
		go func() { dropped <- r[0].Drop(u.Name) }()
		synctest.Wait()
		there, err := r[1].Claim(u.Name)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			release, err := r[0].Claim(u.Name)
			if err == nil {
				defer release()
			}
			claimed <- err
		}()
		synctest.Wait()
		goOn()
		if err := <-dropped; err != nil {
			t.Error(err)
		}
		if err := <-claimed; err != nil {
			t.Errorf("claiming the upload on the first node: %v", err)
		}
		there()
		if _, err := r[1].Get(u.Name); err != nil || !shelf.has(u.Sum) {
			t.Errorf("the claimed upload is gone: %v", err)
		}
	})
}

func TestOnlyValidUploadNamesAreAccepted(t *testing.T) {
	seen := map[string]bool{}
	for _, ext := range []string{".PDF", "tar", "", ".", "../x", "waytoolongext", "é"} {
		name := NewName(Materials, ext)
		if got, ok := NameOf(Folder + name); !ok || got != name || seen[name] {
			t.Errorf("the extension %q results in the name %q", ext, name)
		}
		seen[name] = true
	}
	hex := strings.Repeat("0f", 16)
	for _, bad := range []string{"", "images/", "images/" + hex, "images/" + hex + ".", "images/" + hex + ".PNG", "other/" + hex + ".png", "images/" + hex[1:] + ".png", "images/" + hex + "0.png", "images/" + hex + ".png/x", "images/../" + hex + ".png"} {
		if _, ok := NameOf(Folder + bad); ok {
			t.Errorf("NameOf accepts %q", bad)
		}
	}
	a, b := "images/"+hex+".png", "materials/"+hex+".pdf"
	var got []string
	Mentioned("x /uploads/"+a+") https://h/uploads/"+b+"?x /uploads/images/no /uploads//uploads/"+a+".", func(name string, at int) {
		got = append(got, name)
	})
	if !slices.Equal(got, []string{a, b, a}) {
		t.Errorf("Mentioned found %q", got)
	}
}
