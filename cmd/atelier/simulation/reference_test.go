package simulation

import (
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"atelier/actors/codelab"
	"atelier/actors/durable/statetest"
	"atelier/actors/room"
	"atelier/transport/messages"
)

// checkReference verifies the whole run. It applies every committed record, in its form before any
// rewrite, to an empty state. The state that a node showed at a position must equal this state. A
// listener's frames must be the frames of the events in its stretch.
func (m *model) checkReference() {
	m.mu.Lock()
	defer m.mu.Unlock()
	kind := codelab.Kind(codelab.Rules{})
	core := kind.New(m.w.lab)
	var wanted []*tale
	once := map[string]uint64{}
	var frames codelab.Frames = messages.Frames{}
	if m.w.lies.frames != nil {
		frames = m.w.lies.frames("")
	}
	// A second state starts from a snapshot at a random position.
	cut, restored := m.w.plan.random(ofSnapshots).Uint64N(uint64(len(m.records)))+1, kind.New(m.w.lab)
	for seq := uint64(1); seq <= uint64(len(m.records)); seq++ {
		e, err := m.event(seq)
		if err != nil {
			m.failLocked("acknowledged", "record %d cannot be read: %v", seq, err)
			return
		}
		if text := e.GetChatPosted().GetMessage().GetMessage(); text != "" {
			if once[text] > 0 {
				m.failLocked("once", "%s was written at %d, and again at %d", text, once[text], seq)
				return
			}
			once[text] = seq
		}
		core.Apply(seq, e)
		v := core.Capture()
		err = m.rules.Event(e)
		if err == nil && m.ends[seq] {
			err = m.rules.View(v)
		}
		if err != nil {
			m.failLocked("rules", "at position %d, %v: %v", seq, e, err)
			return
		}
		if seq > cut {
			restored.Apply(seq, e)
		} else if seq == cut {
			state, err := codelab.EncodeState(v)
			if err = errors.Join(err, restored.Restore(seq, state)); err != nil {
				m.failLocked("snapshot", "at position %d: %v", seq, err)
				return
			}
		}
		for _, w := range m.whole {
			if w.seq != seq {
				continue
			}
			if diff := statetest.Diff(v, w.view); diff != "" {
				m.failLocked("snapshot", "at position %d %s shows a view that differs from the result of all events: %s", seq, w.where, diff)
				return
			}
		}
		if before, ok := m.views[seq]; ok {
			if state, err := codelab.EncodeState(v); err != nil || sha256.Sum256(state) != before.sum {
				m.failLocked("acknowledged", "at position %d %s showed a state that differs from the result of all events", seq, before.where)
				return
			}
		}
		var message *room.Frame
		if f, ok := frames.Encode(seq, e); ok {
			message = &f
			wanted = append(wanted, &tale{Frame: f})
		}
		if err := m.rules.Frame(e, message); err != nil {
			m.failLocked("audience", "at position %d, %v: %v", seq, e, err)
			return
		}
		if w := codelab.WithdrawnBy(seq, e); w.Item != "" {
			for _, t := range wanted {
				if _, left := w.Edit(t.Frame); !left && t.gone == 0 {
					t.gone = seq
				}
			}
		}
		if codelab.Erases(e) {
			present := v.Present()
			for _, t := range wanted {
				if _, left := present.Frame(t.Frame); !left && t.gone == 0 {
					t.gone = seq
				}
			}
		}
	}
	if diff := statetest.Diff(core, restored); diff != "" {
		m.failLocked("snapshot", "the snapshot at position %d lacks: %s", cut, diff)
	}
	for _, l := range m.listeners {
		m.checkListener(l, wanted)
	}
}

// tale is the frame of an event. gone is the position at which the event was erased or withdrawn,
// or 0.
type tale struct {
	room.Frame
	gone uint64
}

// operation is a client operation with the position in its response, for the linearizability check.
type operation struct {
	wrote bool // the operation wrote an event, so no other operation has its position
}

// asked records an operation that got a response.
func (m *model) asked(client int, wrote bool, began time.Time, seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.operations = append(m.operations, porcupine.Operation{
		ClientId: client, Input: operation{wrote}, Output: seq, Call: began.UnixNano(), Return: time.Now().UnixNano(),
	})
}

// positions models a codelab by its positions alone. Each write increases the position, and no read
// shows an earlier one. A failed command may have been executed, so that the position can increase
// by more than one.
var positions = porcupine.Model{
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		at, seq := state.(uint64), output.(uint64)
		if input.(operation).wrote {
			return seq > at, seq
		}
		return seq >= at, seq
	},
}

// checkLinear makes the check "linearizable" for the responses of the whole run.
func (m *model) checkLinear() {
	m.mu.Lock()
	operations := slices.Clone(m.operations)
	m.mu.Unlock()
	if porcupine.CheckOperationsTimeout(positions, operations, 20*time.Second) == porcupine.Illegal {
		m.fail("linearizable", "the responses to %d operations have no possible order: a read went backwards, or missed an acknowledged write", len(operations))
	}
}
