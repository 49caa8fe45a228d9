package token

import (
	"sync/atomic"
	"testing"
	"time"

	"atelier/actors/durable"
	pb "atelier/actors/token/tokenpb"
	"atelier/persistence/memory"
)

// marking counts the marks of spans in participants' own logs.
type marking struct {
	durable.Journal
	marks atomic.Int64
}

func (m *marking) Append(rows []durable.Row, done func(error)) error {
	for _, r := range rows {
		if r.Table == "auditown" {
			m.marks.Add(1)
		}
	}
	return m.Journal.Append(rows, done)
}

// The vault reports its commits to the audit trail. The trail therefore marks each span of a
// participant's log once, not once per token.
func TestASpanOfALogIsMarkedOnce(t *testing.T) {
	journal := memory.New()
	t.Cleanup(func() { _ = journal.Close() })
	store := &marking{Journal: journal}
	stopped := clockAt(time.Now())
	w := newWorld(t, func(o *Options) { o.Journal, o.Clock = store, stopped })
	for range 5 {
		w.issue("checkout", pb.Policy_POLICY_SINGLE_USE)
	}
	if n := store.marks.Load(); n != 2 {
		t.Errorf("five tokens at one instant made %d marks, want one for the platform and one for the business", n)
	}
}
