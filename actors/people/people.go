package people

import (
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"atelier/actors/naming"
)

// The roles of people.
const (
	Facilitator = "facilitator"
	Assistant   = "assistant"
)

// Roles lists all roles.
var Roles = []string{Facilitator, Assistant}

// States of people.
const (
	Invited  = "invited"
	Active   = "active"
	Disabled = "disabled"
)

// Limits of the stored data, and of durations.
const (
	MaxPeople   = 2_000
	MaxCodelabs = 200

	// InvitationLife is the lifetime of an invitation.
	InvitationLife = 7 * 24 * time.Hour
	// MinHelperLife and MaxHelperLife bound how long the account of a helper for a day is valid.
	MinHelperLife = 5 * time.Minute
	MaxHelperLife = 7 * 24 * time.Hour
)

// View is the committed state. It and its records are immutable.
type View struct {
	all          []*Person // oldest first
	seen         map[string]int64
	barred       [][]byte // as in core
	byID         map[string]*Person
	byLogin      map[string]*Person
	byInvitation map[string]*Person
	named        func() map[string][]*Person // by the skeleton of the name
}

// All returns the people, oldest first. Callers must not change the list.
func (v *View) All() []*Person { return v.all }

// Get returns the person with an id, or nil.
func (v *View) Get(id string) *Person { return v.byID[id] }

// ByLogin returns the person with a login, in upper or lower case, or nil.
func (v *View) ByLogin(login string) *Person { return v.byLogin[foldLogin(login)] }

// Named returns the people with names that look like the given name.
func (v *View) Named(name string) []*Person { return v.named()[naming.Skeleton(name)] }

// Invited returns the person with an open invitation that has this hash, or nil.
func (v *View) Invited(hash []byte, now time.Time) *Person {
	p := v.byInvitation[hex.EncodeToString(hash)]
	if p == nil || p.Disabled || p.InvitationEndsAt <= now.UnixMilli() {
		return nil
	}
	return p
}

// Stands reports whether a person's grants of this generation are still valid.
func (v *View) Stands(id string, generation uint32, now time.Time) bool {
	p := v.byID[id]
	return p != nil && !p.Disabled && p.Generation == generation && !Over(p, now)
}

// SeenAt returns the time of a person's last activity, in Unix milliseconds, or 0 if there was
// none.
func (v *View) SeenAt(id string) int64 { return v.seen[id] }

// NextEnd returns the next time after now at which a helper's account ends; ok is false if there is
// none.
func (v *View) NextEnd(now time.Time) (next time.Time, ok bool) {
	for _, p := range v.all {
		if p.ExpiresAt > now.UnixMilli() {
			if at := time.UnixMilli(p.ExpiresAt); !ok || at.Before(next) {
				next, ok = at, true
			}
		}
	}
	return next, ok
}

// Over reports whether a person is a helper for a day whose account has ended.
func Over(p *Person, now time.Time) bool { return p.ExpiresAt > 0 && p.ExpiresAt <= now.UnixMilli() }

// Helper reports whether a person is a helper for a day, who has no login.
func Helper(p *Person) bool { return p.ExpiresAt > 0 }

// HasLogin reports whether a login, in upper or lower case, belongs to a person.
func HasLogin(p *Person, login string) bool { return p.Login != "" && p.Login == foldLogin(login) }

// State returns the state of a person.
func State(p *Person, now time.Time) string {
	switch {
	case p.Disabled || Over(p, now):
		return Disabled
	case p.Accepted:
		return Active
	}
	return Invited
}

// Leads reports whether a person leads a codelab: facilitators lead all codelabs, and assistants
// their own.
func Leads(p *Person, codelab string) bool {
	return p.Role == Facilitator || slices.Contains(p.Codelabs, codelab)
}

func newView(all []*Person, seen map[string]int64, barred [][]byte) *View {
	v := &View{
		all: all, seen: seen, barred: barred, byID: make(map[string]*Person, len(all)), byLogin: make(map[string]*Person, len(all)),
		byInvitation: map[string]*Person{},
	}
	v.named = sync.OnceValue(func() map[string][]*Person { // few views need it
		out := map[string][]*Person{}
		for _, p := range all {
			key := naming.Skeleton(p.Name)
			out[key] = append(out[key], p)
		}
		return out
	})
	for _, p := range all {
		v.byID[p.Id] = p
		if p.Login != "" {
			v.byLogin[p.Login] = p
		}
		if len(p.Invitation) > 0 {
			v.byInvitation[hex.EncodeToString(p.Invitation)] = p
		}
	}
	return v
}
