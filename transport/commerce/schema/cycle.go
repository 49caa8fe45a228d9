package schema

import (
	"fmt"
)

// Limits of one schema with all its references followed.
const (
	// maxCost is the maximum number of times that a validator visits one value. If each of several
	// schemas refers to the next one twice, each level doubles the work.
	maxCost = 50_000
	// maxChain is the maximum number of successive steps on the same value.
	maxChain = 2_000
)

// CycleError reports a schema that no validator can finish, because the schema applies itself to
// the same value again, or a schema that takes too many steps.
type CycleError struct {
	// Resource and Pointer are the place of the reference.
	Resource *Resource
	Pointer  string
	// Endless is true for a cycle, and false for a schema that takes too many steps.
	Endless bool
	Reason  string
}

func (e *CycleError) Error() string {
	return fmt.Sprintf("%s#%s: %s", Brief(e.Resource.Doc.File), Brief(e.Pointer), e.Reason)
}

type spot struct {
	resource *Resource
	pointer  string
}

// Costs caches the number of steps of each schema, so that checking many schemas with common
// references takes linear time.
type Costs struct {
	library *Library
	known   map[spot]int
	active  map[spot]bool
}

// NewCosts returns an empty cache.
func (l *Library) NewCosts() *Costs {
	return &Costs{library: l, known: map[spot]int{}, active: map[spot]bool{}}
}

// Check checks every schema of a document and returns the first error. It ignores unresolved
// references.
func (c *Costs) Check(r *Resource) (first *CycleError) {
	Walk(r.Top.Doc.Value, func(pointer string, node map[string]any) {
		if first == nil {
			_, first = c.cost(spot{r.Top, pointer}, node, 0)
		}
	})
	return first
}

// cost counts the steps of applying node to one value, without the value's members.
func (c *Costs) cost(at spot, node map[string]any, depth int) (int, *CycleError) {
	if known, ok := c.known[at]; ok {
		return known, nil
	}
	if c.active[at] {
		return 0, &CycleError{Resource: at.resource, Pointer: at.pointer, Endless: true, Reason: "it refers to itself without going into the value"}
	}
	if depth > maxChain {
		return 0, &CycleError{Resource: at.resource, Pointer: at.pointer, Reason: fmt.Sprintf("more than %d references follow each other", maxChain)}
	}
	c.active[at] = true
	defer delete(c.active, at)
	sum := 1
	add := func(next spot, value any) *CycleError {
		child, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		n, err := c.cost(next, child, depth+1)
		if sum += n; err == nil && sum > maxCost {
			err = &CycleError{Resource: at.resource, Pointer: at.pointer, Reason: fmt.Sprintf("applying it takes more than %d steps", maxCost)}
		}
		return err
	}
	for _, keyword := range []string{"$ref", "$dynamicRef"} {
		ref, ok := node[keyword].(string)
		if !ok {
			continue
		}
		target, err := c.library.Resolve(at.resource.At(at.pointer), ref)
		if err != nil || target.Resource == nil {
			continue
		}
		if err := add(spot{target.Resource, target.Pointer}, target.Value); err != nil {
			return 0, err
		}
	}
	var failed *CycleError
	Subschemas(node, func(pointer string, place Place, child any) {
		if failed == nil && place == Same {
			failed = add(spot{at.resource, at.pointer + pointer}, child)
		}
	})
	if failed != nil {
		return 0, failed
	}
	c.known[at] = sum
	return sum, nil
}
