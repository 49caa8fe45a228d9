package pacing

import (
	"container/heap"
	"math"
	"time"
)

// Never is the next time of an empty agenda.
const Never = time.Duration(math.MaxInt64)

// Agenda contains scheduled operations: streams and single operations. One heap replaces a timer
// for each of them. The zero value is empty. An Agenda is not safe for concurrent use, but the
// functions that it calls can add operations to it.
type Agenda struct {
	entries entries
	// added numbers the entries, so that entries with the same time run in the order in which they
	// were added.
	added uint64
}

type entry struct {
	due    time.Duration
	number uint64
	do     func(due time.Duration)
	// next continues a stream; nil for a single operation.
	next func() (time.Duration, bool)
}

// At schedules do for the given time, or as soon as possible after it.
func (a *Agenda) At(due time.Duration, do func(due time.Duration)) {
	a.push(entry{due: due, do: do})
}

// Stream schedules do for each operation of the pacer. The pacer's times count from start.
func (a *Agenda) Stream(start time.Duration, p Pacer, do func(due time.Duration)) {
	next := func() (time.Duration, bool) {
		due, ok := p.Next()
		return start + due, ok
	}
	if due, ok := next(); ok {
		a.push(entry{due: due, do: do, next: next})
	}
}

// Run runs all operations scheduled up to now, in the order of the planned times, and returns the
// time of the next one, or Never. Each operation receives its planned time, because latency and the
// generator's own lag both count from it.
func (a *Agenda) Run(now time.Duration) time.Duration {
	for len(a.entries) > 0 && a.entries[0].due <= now {
		e := heap.Pop(&a.entries).(entry)
		if e.next != nil {
			if due, ok := e.next(); ok {
				a.push(entry{due: due, do: e.do, next: e.next})
			}
		}
		e.do(e.due)
	}
	if len(a.entries) == 0 {
		return Never
	}
	return a.entries[0].due
}

// Clear removes everything.
func (a *Agenda) Clear() { a.entries = nil }

func (a *Agenda) push(e entry) {
	a.added++
	e.number = a.added
	heap.Push(&a.entries, e)
}

type entries []entry

func (e entries) Len() int { return len(e) }
func (e entries) Less(i, j int) bool {
	if e[i].due != e[j].due {
		return e[i].due < e[j].due
	}
	return e[i].number < e[j].number
}
func (e entries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *entries) Push(x any)   { *e = append(*e, x.(entry)) }
func (e *entries) Pop() any {
	old := *e
	last := old[len(old)-1]
	old[len(old)-1] = entry{}
	*e = old[:len(old)-1]
	return last
}
