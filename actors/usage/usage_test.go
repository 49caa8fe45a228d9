package usage

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"
)

func TestTheNumberOfModelsIsBounded(t *testing.T) {
	var list []*AIUsage
	for range 2 {
		for i := range 3 * MaxModels {
			list = Add(list, &AIUsage{Model: fmt.Sprint(i), Queries: 1, TotalTokens: 2})
		}
	}
	total := int64(0)
	for _, u := range list {
		total += u.TotalTokens
	}
	if last := list[len(list)-1]; len(list) != MaxModels+1 || total != 2*6*MaxModels || last.Model != Other || last.Queries != 2*2*MaxModels {
		t.Errorf("there are %d models with %d tokens, the last is %v", len(list), total, last)
	}
}

func TestUsageIsSummedInANewList(t *testing.T) {
	use := &AIUsage{Model: "m", Queries: 1, Failed: 2, PromptTokens: 3, OutputTokens: 4, TotalTokens: 5}
	one := Add(nil, use)
	before := one[0].Clone()
	two := Add(one, use)
	if want := (&AIUsage{Model: "m", Queries: 2, Failed: 4, PromptTokens: 6, OutputTokens: 8, TotalTokens: 10}); len(two) != 1 || !proto.Equal(two[0], want) {
		t.Errorf("the sums are %v, want %v", two, want)
	}
	if !proto.Equal(one[0], before) || !proto.Equal(use, before) {
		t.Errorf("the earlier list changed to %v, the added usage to %v", one[0], use)
	}
}
