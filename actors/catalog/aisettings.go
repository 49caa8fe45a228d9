package catalog

import (
	"bytes"
	"slices"

	"atelier/actors/catalog/catalogpb"
)

// maxSealed bounds the sealed AI key, bytes.
const maxSealed = 64 << 10

// replacesKey and eraseKeys take a key out of the log that was replaced or
// removed: a later backup must not hold it.
func replacesKey(e *catalogpb.Event) bool { return e.GetAiKeySet() != nil }

func eraseKeys(v *SettingsView) func(*catalogpb.Event) (*catalogpb.Event, bool) {
	return func(e *catalogpb.Event) (*catalogpb.Event, bool) {
		set := e.GetAiKeySet()
		if set == nil || len(set.Sealed) == 0 || bytes.Equal(set.Sealed, v.AIKey) {
			return nil, false
		}
		return &catalogpb.Event{At: e.At, Body: &catalogpb.Event_AiKeySet{AiKeySet: &catalogpb.AIKeySet{}}}, true
	}
}

// maxModels bounds the models that are told apart.
const maxModels = 50

// addUse returns a new list with one more use.
func addUse(list []*catalogpb.AIUsage, u *catalogpb.AIUsage) []*catalogpb.AIUsage {
	model := u.Model
	at := func() int {
		return slices.IndexFunc(list, func(have *catalogpb.AIUsage) bool { return have.Model == model })
	}
	i := at()
	if i < 0 && len(list) >= maxModels {
		model = "other"
		i = at()
	}
	list = slices.Clone(list)
	if i < 0 {
		list = append(list, &catalogpb.AIUsage{Model: model})
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
