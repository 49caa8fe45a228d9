package settings

import (
	"testing"
)

func TestAReplacedKeyLeavesTheLog(t *testing.T) {
	set := func(key string) *Event {
		return &Event{At: 1, Body: &Event_AiKeySet{AiKeySet: &AIKeySet{Sealed: []byte(key)}}}
	}
	log := []*Event{set("one"), set("two"), set(""), set("three")}
	state := func(events []*Event) *View {
		s := &core{}
		for i, e := range events {
			s.Apply(uint64(i+1), e)
		}
		return s.Capture()
	}
	for n := 1; n <= len(log); n++ {
		view := state(log[:n])
		if !replacesKey(log[n-1]) {
			t.Error("setting a key does not trigger erasing")
		}
		erase := eraseKeys(view)
		var after []*Event
		for _, e := range log[:n] {
			if out, changed := erase(e); changed {
				e = out
			}
			if key := string(e.GetAiKeySet().Sealed); key != "" && key != string(view.AIKey) {
				t.Errorf("after %d events, the log still contains %q", n, key)
			}
			after = append(after, e)
		}
		if got := state(after); string(got.AIKey) != string(view.AIKey) {
			t.Errorf("after %d events, the erased log has the key %q", n, got.AIKey)
		}
	}
}
