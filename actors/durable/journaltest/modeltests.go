package journaltest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"
)

var modelTests = []conformance{
	{"random histories match the model", func(s *subject) {
		run := 0
		rapid.Check(s.T, func(t *rapid.T) {
			run++
			m := &model{s: s, actor: fmt.Sprint("model/", run)}
			m.log = s.log(m.actor)
			t.Repeat(map[string]func(*rapid.T){
				"append":   m.append,
				"queue":    m.queue,
				"gap":      m.gap,
				"snapshot": m.snapshot,
				"rewrite":  m.rewrite,
				"open":     m.open,
				"reopen":   m.reopen,
				"purge":    m.purge,
				"":         m.check,
			})
		})
	}},
}

// model is the expected content of one actor's log.
type model struct {
	s     *subject
	actor string
	log   handle

	records []string // all records ever appended; the first is seq 1
	cut     uint64   // records up to here can be missing

	base     uint64 // records up to this seq can be missing or rewritten
	state    string
	stateSeq uint64
}

func (m *model) tail() uint64 { return uint64(len(m.records)) }

func (m *model) draw(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.StringN(0, 20, 40), 1, 5).Draw(t, "records")
}

func (m *model) append(t *rapid.T) {
	contents := m.draw(t)
	m.log.add(m.tail()+1, contents...)
	m.records = append(m.records, contents...)
}

// queue appends several batches without waiting, so that a journal can store them together.
func (m *model) queue(t *rapid.T) {
	var outcomes []outcome
	for range rapid.IntRange(1, 6).Draw(t, "batches") {
		contents := m.draw(t)
		outcomes = append(outcomes, m.log.queue(m.tail()+1, contents...))
		m.records = append(m.records, contents...)
	}
	for _, o := range outcomes {
		m.s.must(<-o)
	}
}

func (m *model) gap(t *rapid.T) {
	first := rapid.Uint64().Filter(func(n uint64) bool { return n != m.tail()+1 }).Draw(t, "first")
	if err := <-m.log.queue(first, "gap"); err == nil {
		t.Fatalf("a batch at %d was committed although the tail is %d", first, m.tail())
	}
	m.open(t)
}

func (m *model) snapshot(t *rapid.T) {
	seq := rapid.Uint64Range(m.stateSeq, m.tail()).Draw(t, "seq")
	if seq == 0 {
		return
	}
	keep := rapid.Uint64Range(0, m.tail()+2).Draw(t, "keep")
	size := rapid.SampledFrom([]int{0, 10, 1000, 10_000}).Draw(t, "size")
	state := fmt.Sprintf("%d%*d", seq, size, seq)
	m.log.snap(seq, state, keep)
	m.state, m.stateSeq = state, seq
	m.cut = max(m.cut, min(seq, keep))
	m.base = max(m.base, m.cut)
}

func (m *model) rewrite(t *rapid.T) {
	every := rapid.Uint64Range(1, 5).Draw(t, "every")
	text := rapid.StringN(0, 10, 20).Draw(t, "text")
	limit := rapid.Uint64Range(0, m.stateSeq).Draw(t, "limit")
	m.s.must(m.log.Rewrite(limit, func(seq uint64, record []byte) ([]byte, bool, error) {
		if seq > limit {
			return nil, false, fmt.Errorf("a rewrite up to %d was passed record %d", limit, seq)
		}
		if got, want := string(record), m.records[seq-1]; got != want {
			return nil, false, fmt.Errorf("a rewrite was passed %q as record %d, want %q", got, seq, want)
		}
		if seq%every != 0 {
			return nil, false, nil
		}
		m.records[seq-1] = text
		m.base = max(m.base, limit)
		return []byte(text), true, nil
	}))
}

func (m *model) open(*rapid.T) {
	m.log = m.s.log(m.actor)
	if got := m.log.Tail(); got != m.tail() {
		m.s.Fatalf("Tail returns %d, want %d", got, m.tail())
	}
}

// reopen closes and opens the journal. It does so rarely, because this is the most expensive
// action.
func (m *model) reopen(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
		m.s.reopen()
	}
	m.open(t)
}

func (m *model) purge(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "really") > 0 {
		return
	}
	m.s.must(m.s.Purge(m.actor))
	*m = model{s: m.s, actor: m.actor}
	m.open(t)
}

func (m *model) check(t *rapid.T) {
	m.log.loads(m.state, m.stateSeq)
	m.log.bases(m.base)
	// Truncated records can still be returned. However, each returned record must be correct, the
	// records must have no gap, and none above the cut can be missing.
	after := rapid.Uint64Range(0, m.tail()+1).Draw(t, "after")
	got := m.log.replayed(after)
	must := max(m.cut, after)
	if must < m.tail() && uint64(len(got)) < m.tail()-must {
		t.Fatalf("replay after %d: %d records, want at least %d", after, len(got), m.tail()-must)
	}
	var want []string
	for seq := m.tail() - uint64(len(got)); seq < m.tail(); seq++ {
		want = append(want, fmt.Sprint(seq+1, " ", m.records[seq]))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("replay after %d: got %q, want %q", after, got, want)
	}
}
