package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// announced is a client that announces a body and sends a part of it.
type announced struct {
	sent  int
	after func() // called when the server reads further
}

func (a *announced) Read(p []byte) (int, error) {
	if a.sent == 0 {
		a.after()
		return 0, io.ErrUnexpectedEOF
	}
	n := min(len(p), a.sent)
	a.sent -= n
	return n, nil
}

func TestABodyUsesOnlyTheReceivedBytes(t *testing.T) {
	budget := NewBodyBudget(64 << 20)
	share := &BodyShare{Of: budget}
	_, err := readAll(&announced{20 << 10, func() {
		if used := budget.Used(); used < 20<<10 || used > 40<<10 {
			t.Errorf("after 20 KiB of 4 MiB, %d bytes are in use", used)
		}
	}}, 4<<20, 4<<20+1, share)
	if !errors.Is(err, ErrBroken) {
		t.Error(err)
	}
	share.Release()
	if budget.Used() != 0 {
		t.Errorf("after Release, %d bytes are in use", budget.Used())
	}
}

func TestBodiesBeyondTheBudgetAreRefused(t *testing.T) {
	budget := NewBodyBudget(5 * first) // a body of 3*first needs 2*first more while it grows
	one, other := &BodyShare{Of: budget}, &BodyShare{Of: budget}
	body := make([]byte, 3*first-1)
	if _, err := readAll(bytes.NewReader(body), len(body), len(body)+1, one); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(bytes.NewReader(body), len(body), len(body)+1, other); !errors.Is(err, ErrBusy) {
		t.Errorf("reading a second body returned %v, want ErrBusy", err)
	}
	if budget.Refused() != 1 {
		t.Errorf("%d bodies were refused, want 1", budget.Refused())
	}
	other.Release()
	one.Release()
	if _, err := readAll(bytes.NewReader(body), len(body), len(body)+1, other); err != nil {
		t.Errorf("after the first body was released, the second returned %v", err)
	}
}

func TestUnauthenticatedClientsUseHalfTheBudget(t *testing.T) {
	budget := NewBodyBudget(4 * first)
	var strangers []*BodyShare
	for {
		s := &BodyShare{Of: budget, Open: true}
		strangers = append(strangers, s)
		if _, err := readAll(bytes.NewReader(nil), first, first+1, s); err != nil {
			break
		}
	}
	if n := len(strangers); n != 3 {
		t.Errorf("unauthenticated client %d was the first to be refused, want 3", n)
	}
	known := &BodyShare{Of: budget}
	if _, err := readAll(bytes.NewReader(nil), first, first+1, known); err != nil {
		t.Errorf("an authenticated client is refused: %v", err)
	}
	for _, s := range strangers {
		s.Release()
	}
	if budget.open.Load() != 0 || budget.Used() != first {
		t.Errorf("after the release %d bytes are in use without a session, %d in all", budget.open.Load(), budget.Used())
	}
}

func TestABudgetOfZeroIsUnlimited(t *testing.T) {
	share := &BodyShare{Of: NewBodyBudget(0)}
	if _, err := readAll(bytes.NewReader(make([]byte, 1<<20)), 1<<20, 1<<20+1, share); err != nil {
		t.Error(err)
	}
	share.Release()
	if share.Of.Refused() != 0 || share.Of.Used() != 0 {
		t.Error("a budget of 0 counts bodies")
	}
}
