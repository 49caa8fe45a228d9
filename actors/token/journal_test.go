package token

import (
	"errors"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"atelier/actors/audit"
	"atelier/actors/durable"
)

// watched is a journal that a test can inspect and make fail. It counts audit records. It stores
// them only with keepAudit, because there can be a million.
type watched struct {
	durable.Journal
	keepAudit bool

	appends atomic.Int64 // appends that reached the real journal

	mu      sync.Mutex
	actions map[string]map[string]int // audit action and target: how often, on disk
	rng     *rand.Rand
	fail    float64 // fraction of calls that fail
	rewrite func(table string, key, value []byte) []byte
	gets    map[string]int // reads by table, if reads was called
}

func watch(j durable.Journal) *watched {
	return &watched{Journal: j, actions: map[string]map[string]int{}, rng: rand.New(rand.NewPCG(1, 2))}
}

var errInjected = errors.New("injected")

func (w *watched) fails() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.Float64() < w.fail
}

func (w *watched) later() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(3) > 0
}

// injectAt makes a fraction of all further calls fail.
func (w *watched) injectAt(share float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = share
}

// targets returns how often each target has audit records of an action, on disk.
func (w *watched) targets(action string) map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.actions[action])
}

func (w *watched) Append(rows []durable.Row, done func(error)) error {
	if w.fails() {
		if w.later() { // some calls fail immediately, others through done
			go done(errInjected)
			return nil
		}
		return errInjected
	}
	kept, counted := rows, [][2]string{}
	if !w.keepAudit {
		kept = nil
	}
	for _, r := range rows {
		if r.Table == "audit" {
			var a audit.Record
			if err := a.Decode(r.Value); err != nil {
				return err
			}
			counted = append(counted, [2]string{a.Action, a.TargetId})
		} else if !w.keepAudit {
			kept = append(kept, r)
		}
	}
	defer w.appends.Add(1)
	return w.Journal.Append(kept, func(err error) {
		if err == nil {
			w.mu.Lock()
			for _, c := range counted {
				if w.actions[c[0]] == nil {
					w.actions[c[0]] = map[string]int{}
				}
				w.actions[c[0]][c[1]]++
			}
			w.mu.Unlock()
		}
		done(err)
	})
}

func (w *watched) Get(table string, key []byte) ([]byte, error) {
	if w.fails() {
		return nil, errInjected
	}
	b, err := w.Journal.Get(table, key)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gets != nil {
		w.gets[table]++
	}
	if err == nil && w.rewrite != nil {
		b = w.rewrite(table, key, b)
	}
	return b, err
}

// change sets a function that alters each value read from the store.
func (w *watched) change(fn func(table string, key, value []byte) []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rewrite = fn
}

// count returns how many audit records of an action are on disk.
func (w *watched) count(action string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, c := range w.actions[action] {
		n += c
	}
	return n
}
