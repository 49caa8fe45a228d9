package schema

import (
	"encoding/json"
	"errors"
)

// Limits of holding one value against one schema.
const (
	// maxWork is the steps a validator may take. A checkout of a thousand lines
	// takes some two hundred thousand.
	maxWork = 1_000_000
	// maxNested is how deep a validator may stand in schemas and values.
	maxNested = 50_000
	// nameWeight and matchWeight are what a schema applied to a member's name
	// and a match that may backtrack cost, in steps.
	nameWeight  = 16
	matchWeight = 2_000
	// stepBytes is how much text is read in a step, stepLooks how often a
	// pattern looks at some.
	stepBytes = 64
	stepLooks = 128
)

// ErrTooMuchWork is a schema and a value that a validator would be busy with
// for too long, or fill the memory with: recursion that multiplies with every
// level, a thousand alternatives for each of a thousand items.
var ErrTooMuchWork = errors.New("holding this value against this schema would take too long")

// Work is what holding a value against a schema takes.
type Work struct {
	// Steps stand for time.
	Steps int
	// Places stand for memory: each schema applied to a part of the value may
	// leave an error that names the place.
	Places int
}

// Gauge counts the work of holding values against schemas. What it knows of a
// schema it keeps, for the next value. Owned by one goroutine.
type Gauge struct {
	library *Library
	plans   map[spot]*plan
	Work
}

// NewGauge starts with nothing known.
func (l *Library) NewGauge() *Gauge { return &Gauge{library: l, plans: map[spot]*plan{}} }

// Measure counts, and gives up with ErrTooMuchWork where the limit is: it never
// takes more steps itself than it counts. It errs on the side of more work:
// every branch is taken.
func (g *Gauge) Measure(target Target, value any) (Work, error) {
	g.Work = Work{}
	if target.Resource == nil {
		return g.Work, nil
	}
	at := application{part: value}
	if !g.apply(g.plan(spot{target.Resource, target.Pointer}, target.Value), at) {
		return g.Work, ErrTooMuchWork
	}
	return g.Work, nil
}

// application is a schema applied to a part of a value.
type application struct {
	part any
	// tracked says that a schema around this one wants to know what of the
	// part was looked at, which is kept for every member at every step.
	tracked bool
	// depth counts the parts around this one, nested also the schemas.
	depth, nested int
}

// inside is a step into the part, again one to other schemas of the same part.
func (a application) inside(part any) application {
	return application{part: part, depth: a.depth + 1, nested: a.nested + 1}
}

func (a application) again(tracked bool) application {
	return application{part: a.part, tracked: tracked, depth: a.depth, nested: a.nested + 1}
}

// spend takes steps and tells whether there are more.
func (g *Gauge) spend(steps int) bool {
	g.Steps += min(steps, maxWork+1)
	return g.Steps <= maxWork
}

func (g *Gauge) apply(p *plan, a application) bool {
	// Where an error says it is takes as much memory as the place is deep.
	g.Places += 1 + a.depth/8
	if !g.spend(1) || a.nested > maxNested {
		return false
	}
	if p == nil || !p.wants(a.part) {
		return true // a boolean, or no value of this kind fits
	}
	a.tracked = a.tracked || p.tracks
	if !g.spend(p.compared(a.part)) || !g.reference(p, a) {
		return false
	}
	switch part := a.part.(type) {
	case map[string]any:
		if !g.object(p, a, part) {
			return false
		}
	case []any:
		if !g.array(p, a, part) {
			return false
		}
	case string:
		if !g.spend(p.texts * (len(part) / stepBytes)) {
			return false
		}
		if p.pattern != nil && !g.spend(p.pattern.cost(part)) {
			return false
		}
	}
	for _, next := range p.same {
		if !g.apply(next, a.again(a.tracked)) {
			return false
		}
	}
	return true
}

func (g *Gauge) reference(p *plan, a application) bool {
	if p.ref == "" {
		return true
	}
	if p.target == nil {
		t, err := g.library.Resolve(p.at.resource.At(p.at.pointer), p.ref)
		if err != nil || t.Resource == nil {
			return true
		}
		if p.target = g.plan(spot{t.Resource, t.Pointer}, t.Value); p.target == nil {
			return true
		}
	}
	return g.apply(p.target, a.again(a.tracked))
}

func (g *Gauge) object(p *plan, a application, part map[string]any) bool {
	steps := len(part)*(1+len(p.patterns)) + p.required
	if a.tracked {
		steps += 2 * len(part)
	}
	if !g.spend(steps) {
		return false
	}
	for name, next := range p.dependent {
		if _, ok := part[name]; ok && !g.apply(next, a.again(a.tracked)) {
			return false
		}
	}
	// Only what some schema looks into costs more than the look itself.
	if len(p.properties)+len(p.patterns)+len(p.rest)+len(p.names) == 0 {
		return true
	}
	for name, inner := range part {
		own, known := p.properties[name]
		if known && !g.apply(own, a.inside(inner)) {
			return false
		}
		for _, by := range p.patterns {
			if !g.spend(by.cost(name)) {
				return false
			}
			if by.fits(name) {
				if known = true; !g.apply(by.plan, a.inside(inner)) {
					return false
				}
			}
		}
		for _, next := range p.rest {
			if !known && !g.apply(next, a.inside(inner)) {
				return false
			}
		}
		for _, next := range p.names {
			if !g.spend(nameWeight) || !g.apply(next, a.inside(name)) {
				return false
			}
		}
	}
	return true
}

func (g *Gauge) array(p *plan, a application, part []any) bool {
	if a.tracked && !g.spend(2*len(part)) {
		return false
	}
	if p.unique && !g.spend(min(len(part), 20)*size(part, maxWork)) {
		return false
	}
	for i, inner := range part {
		for _, next := range p.every {
			if !g.apply(next, a.inside(inner)) {
				return false
			}
		}
		rest := p.items
		if i < len(p.prefix) {
			rest = p.prefix[i : i+1]
		}
		for _, next := range rest {
			if !g.apply(next, a.inside(inner)) {
				return false
			}
		}
	}
	return true
}

// size counts the values in a value, texts by their length, up to a limit.
func size(value any, most int) int {
	n := 1
	switch v := value.(type) {
	case string:
		n += len(v) / stepBytes
	case json.Number:
		n += 4 // numbers are compared as fractions
	case map[string]any:
		for name, inner := range v {
			if n += 1 + len(name)/stepBytes; n < most {
				n += size(inner, most-n)
			}
		}
	case []any:
		for _, inner := range v {
			if n < most {
				n += size(inner, most-n)
			}
		}
	}
	return n
}
