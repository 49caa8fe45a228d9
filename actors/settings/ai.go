package settings

import (
	"bytes"
)

// maxSealed bounds the sealed AI key, in bytes.
const maxSealed = 64 << 10

// replacesKey reports whether an event sets or removes the AI key. After such an event, eraseKeys
// erases all earlier keys from the log, so that later backups do not contain them.
func replacesKey(e *Event) bool { return e.GetAiKeySet() != nil }

func eraseKeys(v *View) func(*Event) (*Event, bool) {
	return func(e *Event) (*Event, bool) {
		set := e.GetAiKeySet()
		if set == nil || len(set.Sealed) == 0 || bytes.Equal(set.Sealed, v.AIKey) {
			return nil, false
		}
		return &Event{At: e.At, Body: &Event_AiKeySet{AiKeySet: &AIKeySet{}}}, true
	}
}
