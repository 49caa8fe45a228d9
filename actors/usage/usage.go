package usage

import (
	"slices"
)

// MaxModels bounds the models with their own sum, so that the list of sums stays short. The use of
// further models is summed under [Other].
const MaxModels = 50

// Other is the model under which the usage of models beyond MaxModels is summed.
const Other = "other"

// Add returns the sums with one more use. It modifies neither the list nor its elements, which
// views can share.
func Add(sums []*AIUsage, u *AIUsage) []*AIUsage {
	of := func(model string) int {
		return slices.IndexFunc(sums, func(have *AIUsage) bool { return have.Model == model })
	}
	model := u.Model
	i := of(model)
	if i < 0 && len(sums) >= MaxModels {
		model = Other
		i = of(model)
	}
	sums = slices.Clone(sums)
	if i < 0 {
		sums = append(sums, &AIUsage{Model: model})
		i = len(sums) - 1
	}
	sum := sums[i].Clone()
	sum.Queries += u.Queries
	sum.Failed += u.Failed
	sum.PromptTokens += u.PromptTokens
	sum.OutputTokens += u.OutputTokens
	sum.TotalTokens += u.TotalTokens
	sums[i] = sum
	return sums
}
