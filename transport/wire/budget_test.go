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

func TestABodyTakesWhatHasArrived(t *testing.T) {
	budget := NewBodyBudget(64 << 20)
	share := &BodyShare{Of: budget}
	_, err := readAll(&announced{20 << 10, func() {
		if used := budget.Used(); used < 20<<10 || used > 40<<10 {
			t.Errorf("of 20 KiB that arrived of 4 MiB, %d bytes are in use", used)
		}
	}}, 4<<20, 4<<20+1, share)
	if !errors.Is(err, ErrBroken) {
		t.Error(err)
	}
	share.Release()
	if budget.Used() != 0 {
		t.Errorf("%d bytes are in use behind it", budget.Used())
	}
}

func TestTheBudgetHolds(t *testing.T) {
	budget := NewBodyBudget(5 * first) // a body of three takes two more while it grows
	one, other := &BodyShare{Of: budget}, &BodyShare{Of: budget}
	body := make([]byte, 3*first-1)
	if _, err := readAll(bytes.NewReader(body), len(body), len(body)+1, one); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(bytes.NewReader(body), len(body), len(body)+1, other); !errors.Is(err, ErrBusy) {
		t.Errorf("a second body: %v", err)
	}
	if budget.Refused() != 1 {
		t.Errorf("%d were refused", budget.Refused())
	}
	other.Release()
	one.Release()
	if _, err := readAll(bytes.NewReader(body), len(body), len(body)+1, other); err != nil {
		t.Errorf("when the first is over: %v", err)
	}
}

func TestStrangersLeaveHalfOfTheBudget(t *testing.T) {
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
		t.Errorf("stranger %d was the first to be refused", n)
	}
	known := &BodyShare{Of: budget}
	if _, err := readAll(bytes.NewReader(nil), first, first+1, known); err != nil {
		t.Errorf("somebody who is known: %v", err)
	}
	for _, s := range strangers {
		s.Release()
	}
	if budget.open.Load() != 0 || budget.Used() != first {
		t.Errorf("%d and %d bytes are in use", budget.open.Load(), budget.Used())
	}
}

func TestNoBudgetIsNoBound(t *testing.T) {
	share := &BodyShare{Of: NewBodyBudget(0)}
	if _, err := readAll(bytes.NewReader(make([]byte, 1<<20)), 1<<20, 1<<20+1, share); err != nil {
		t.Error(err)
	}
	share.Release()
	if share.Of.Refused() != 0 || share.Of.Used() != 0 {
		t.Error("it counts")
	}
}
