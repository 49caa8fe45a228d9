package settings

import (
	"bytes"
	"slices"

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

// maxModels bounds the models that are told apart.
const maxModels = 50

// addUse returns a new list with one more use.
func addUse(list []*settingspb.AIUsage, u *settingspb.AIUsage) []*settingspb.AIUsage {
	model := u.Model
	at := func() int {
		return slices.IndexFunc(list, func(have *settingspb.AIUsage) bool { return have.Model == model })
	}
	i := at()
	if i < 0 && len(list) >= maxModels {
		model = "other"
		i = at()
	}
	list = slices.Clone(list)
	if i < 0 {
		list = append(list, &settingspb.AIUsage{Model: model})
		i = len(list) - 1
	}
	sum := list[i].Clone()
	sum.Queries += u.Queries
	sum.Failed += u.Failed
	sum.PromptTokens += u.PromptTokens
	sum.OutputTokens += u.OutputTokens
	sum.TotalTokens += u.TotalTokens
	list[i] = sum
	return list
}
