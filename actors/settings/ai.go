package settings

import (
	"bytes"

	"atelier/actors/settings/settingspb"
)

// maxSealed bounds the sealed AI key, bytes.
const maxSealed = 64 << 10

// replacesKey and eraseKeys take a key out of the log that was replaced or
// removed: a later backup must not hold it.
func replacesKey(e *settingspb.Event) bool { return e.GetAiKeySet() != nil }

func eraseKeys(v *View) func(*settingspb.Event) (*settingspb.Event, bool) {
	return func(e *settingspb.Event) (*settingspb.Event, bool) {
		set := e.GetAiKeySet()
		if set == nil || len(set.Sealed) == 0 || bytes.Equal(set.Sealed, v.AIKey) {
			return nil, false
		}
		return &settingspb.Event{At: e.At, Body: &settingspb.Event_AiKeySet{AiKeySet: &settingspb.AIKeySet{}}}, true
	}
}
