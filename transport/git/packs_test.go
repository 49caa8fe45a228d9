package git

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"atelier/actors/code"
	"atelier/actors/durable"
)

// oneFile is a repository whose commits contain one file each, named by the hash of the commit's
// id.
type oneFile struct{}

func (oneFile) Files(commit string, fn func(code.Object) error) error {
	return fn(code.Object{Kind: code.BlobObject, Name: NameOf(code.BlobObject, []byte(commit))})
}
func (oneFile) Blob(name string) ([]byte, error) { return []byte(name), nil }
func (oneFile) Find(string, []string) (code.Object, bool, error) {
	return code.Object{}, false, errors.New("not asked for")
}
func (f oneFile) Close() error { return nil }

func testRepository(branches ...string) *Repository {
	var shots []Snapshot
	for _, b := range branches {
		shots = append(shots, Snapshot{b, NameOf(code.TreeObject, []byte(b)), b})
	}
	refs, commits := Chain(shots, time.Unix(1_700_000_000, 0))
	return &Repository{
		Name: "w", Refs: refs, Head: branches[len(branches)-1],
		Load: func(id string) (*Commit, error) { return commits[id], nil },
		Open: func() (code.Repository, error) { return oneFile{}, nil },
	}
}

func (r *Repository) id(branch string) string {
	for _, ref := range r.Refs {
		if ref.Branch == branch {
			return ref.ID
		}
	}
	return noID
}

func answered(t *testing.T, r *Repository, lines ...string) *Answer {
	t.Helper()
	var body []byte
	for _, l := range lines {
		if l == flush {
			body = append(body, flush...)
		} else {
			body = appendLine(body, "%s\n", l)
		}
	}
	f, err := ParseFetch(body)
	if err != nil {
		t.Fatal(err)
	}
	a, err := r.Answer(f)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func testPacks(t *testing.T) *Packs {
	return NewPacks(func() (*os.File, error) { return os.CreateTemp(t.TempDir(), "") })
}

func TestEqualRequestsShareOnePack(t *testing.T) {
	packs := testPacks(t)
	var all sync.WaitGroup
	got := make([][]byte, 300)
	for i := range got {
		all.Go(func() {
			r := testRepository("a", "b", "c")
			content, size, err := packs.Reader(answered(t, r, "want "+r.id("c")+" side-band-64k", flush, "done"))
			if err != nil {
				t.Error(err)
				return
			}
			defer content.Close()
			if got[i], err = io.ReadAll(content); err != nil || int64(len(got[i])) != size {
				t.Errorf("read %d bytes of %d: %v", len(got[i]), size, err)
			}
		})
	}
	all.Wait()
	for _, b := range got {
		if !bytes.Equal(b, got[0]) || !bytes.HasPrefix(b, []byte("0008NAK\n")) || !bytes.HasSuffix(b, []byte(flush)) {
			t.Fatalf("one response is %.60q", b)
		}
	}
	if n := packs.Made(); n != 1 {
		t.Errorf("%d packs were made, want 1", n)
	}
	// Another set of branches needs another pack, and so does a client that already has a branch.
	for i, r := range []*Repository{testRepository("a", "b", "c", "d"), testRepository("a", "b", "x"), testRepository("a", "b", "c")} {
		content, _, err := packs.Reader(answered(t, r, "want "+r.id(r.Head)+" multi_ack_detailed", flush, "have "+r.id("a"), "done"))
		if err != nil {
			t.Fatal(err)
		}
		content.Close()
		if n := packs.Made(); n != int64(i+2) {
			t.Errorf("%d packs were made so far, want one for each set of branches", n)
		}
	}
}

func TestReplacedPacksAreClosed(t *testing.T) {
	packs := testPacks(t)
	branches := []string{"first"}
	r := testRepository(branches...)
	first, _, err := packs.Reader(answered(t, r, "want "+r.id("first"), flush, "done"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxPacks {
		branches = append(branches, "b"+string(rune('a'+i%26))+string(rune('a'+i/26)))
		r := testRepository(branches...)
		content, _, err := packs.Reader(answered(t, r, "want "+r.id(r.Head), flush, "done"))
		if err != nil {
			t.Fatal(err)
		}
		content.Close()
	}
	if len(packs.packs) != maxPacks || len(packs.order) != maxPacks {
		t.Errorf("%d packs are kept, want maxPacks", len(packs.packs))
	}
	held := packs.held.Load()
	// The pack was replaced, but its reader can still read it.
	if b, err := io.ReadAll(first); err != nil || !bytes.HasPrefix(b, []byte("0008NAK\nPACK")) {
		t.Errorf("a reader of a replaced pack read %.20q, %v", b, err)
	}
	first.Close()
	first.Close()
	if now := packs.held.Load(); now >= held || now != packs.bytes {
		t.Errorf("after the last reader closed %d bytes are held, before it %d, the kept packs have %d", now, held, packs.bytes)
	}
}

func TestAFailedPackIsMadeAgain(t *testing.T) {
	packs := testPacks(t)
	r := testRepository("a")
	open := r.Open
	gone := errors.New("gone")
	r.Open = func() (code.Repository, error) { return nil, gone }
	a := answered(t, r, "want "+r.id("a"), flush, "done")
	if _, _, err := packs.Reader(a); !errors.Is(err, gone) {
		t.Errorf("Reader returned %v, want the error of Open", err)
	}
	r.Open = open
	content, _, err := packs.Reader(a)
	if err != nil {
		t.Fatal(err)
	}
	content.Close()
	if held := packs.held.Load(); held != packs.bytes || held == 0 {
		t.Errorf("%d bytes are held, want the bytes of the pack", held)
	}
}

// The test compares with fixed ids, because every server must create the same commits.
func TestSnapshotsHaveTheSameCommitsEverywhere(t *testing.T) {
	r := testRepository("step-1-start", "step-1-end")
	if got := r.id("step-1-start") + " " + r.id("step-1-end"); got != chainIDs {
		t.Errorf("the commits are %s, want chainIDs", got)
	}
	longer := testRepository("step-1-start", "step-1-end", "step-2-start")
	if longer.id("step-1-end") != r.id("step-1-end") {
		t.Error("a later branch changed the commit of an earlier one")
	}
}

const chainIDs = "0f83447b00f24472458fbf9babd59226bddbff64 62d01833d5d6eee2bb2ab4c2e7a9870d1fa46d80"

func TestTheSizeInTheSideBandIsExact(t *testing.T) {
	const most = maxLine - bandHead
	for _, n := range []int{0, 1, most - 1, most, most + 1, 3*most - 1, 3 * most, 3*most + 1} {
		b, err := io.ReadAll(inBand(bytes.NewReader(make([]byte, n))))
		if err != nil || int64(len(b)) != sizeInBand(int64(n)) {
			t.Errorf("%d bytes have %d bytes in the side band, want %d (%v)", n, len(b), sizeInBand(int64(n)), err)
		}
	}
}

func TestPacksAreBoundedInSize(t *testing.T) {
	packs := testPacks(t)
	packs.most = 1 // no pack fits into the cache, and each open pack exceeds twice this limit
	get := func(branches ...string) (io.ReadCloser, error) {
		r := testRepository(branches...)
		content, _, err := packs.Reader(answered(t, r, "want "+r.id(r.Head), flush, "done"))
		return content, err
	}
	slow, err := get("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := get("a", "b"); !errors.Is(err, durable.ErrBusy) {
		t.Errorf("a pack beyond the limit returned %v, want ErrBusy", err)
	}
	slow.Close()
	next, err := get("a", "b")
	if err != nil {
		t.Fatal(err)
	}
	next.Close()
	if held := packs.held.Load(); held != 0 || len(packs.packs) != 0 {
		t.Errorf("after the readers closed %d bytes are held and %d packs kept, want none", held, len(packs.packs))
	}
}
