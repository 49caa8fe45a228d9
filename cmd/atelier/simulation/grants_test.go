package simulation

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"atelier/actors/login"
	"atelier/actors/participant"
)

// grants contains the credentials: session ids and participants' keys. Once a credential is
// acknowledged, it is valid on every node. Once its end is acknowledged, it is valid on no node
// after at most login.MaxAge.
type grants struct {
	w   *world
	mu  sync.Mutex
	all []*grant // guarded by mu
}

// grant is one credential. Guarded by grants.mu.
type grant struct {
	id     string
	key    bool // a participant's key; otherwise a session
	of     string
	family *family
	since  time.Time // when it was acknowledged
	// replaced means that another id was issued from this id. This id ends a minute after the first
	// use of the new id.
	replaced bool
}

// family is a group of grants that end together: one key, or the session ids that were issued from
// one another.
type family struct {
	ending bool      // its end was requested
	ended  time.Time // when its end was acknowledged
}

// check verifies whether a node was right to accept or refuse a grant. began is the time of the
// request.
func (g *grants) check(s *server, x *grant, began time.Time, good bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := x.family
	switch late := began.Add(-login.MaxAge); {
	case good && !f.ended.IsZero() && f.ended.Before(late):
		g.w.model.fail("grants", "%s accepts grant %s, whose end was acknowledged %v earlier", s.n.name, x.id, began.Sub(f.ended))
	case !good && !f.ending && !x.replaced && x.since.Before(late):
		g.w.model.fail("grants", "%s refuses grant %s, which was acknowledged %v earlier", s.n.name, x.id, began.Sub(x.since))
	}
}

// visitor is a client that signs in and out, and creates and removes keys.
type visitor struct {
	g    *grants
	all  *sync.WaitGroup // concurrent actions
	name string
	rand *rand.Rand
	made int
}

func (g *grants) act(until time.Time, all *sync.WaitGroup) {
	for i := range g.w.plan.Visitors {
		v := &visitor{g: g, all: all, name: fmt.Sprintf("v%d", i+1), rand: g.w.plan.random(ofVisitors + uint64(i))}
		all.Go(func() {
			for time.Now().Before(until) && g.w.pause(time.Duration(v.rand.ExpFloat64()*float64(100*time.Millisecond))) {
				if s := g.w.nodes[v.rand.IntN(len(g.w.nodes))].server.Load(); s != nil {
					v.act(s)
				}
			}
		})
	}
}

func (v *visitor) act(s *server) {
	v.g.mu.Lock()
	var x *grant
	if n := len(v.g.all); n > 0 {
		x = v.g.all[max(0, n-1-int(v.rand.ExpFloat64()*4))]
	}
	v.g.mu.Unlock()
	switch draw := v.rand.IntN(20); {
	case x == nil || draw < 3:
		v.signIn(s, nil)
	case draw < 5:
		v.signIn(s, x)
	case draw < 7:
		v.addKey(s)
	case draw < 10:
		v.end(s, x)
	default:
		v.use(s, x)
	}
}

// use checks a grant on a node, in the same way as the transport.
func (v *visitor) use(s *server, x *grant) {
	began := time.Now()
	var good bool
	var err error
	if x.key {
		h, failed := s.parties.Near(participant.ID, login.MaxAge)
		if err = failed; err == nil {
			good = h.View().Authenticate(x.id, []byte(x.id)) != nil
		}
	} else if err = s.sessions.Current(login.MaxAge); err == nil {
		_, good, err = s.sessions.Use(x.id)
	}
	if !v.taken(s, "Use", x.id, err) {
		return
	}
	v.g.check(s, x, began, good)
}

// signIn issues a session id. If from is not nil, the id is issued from that session's id.
func (v *visitor) signIn(s *server, from *grant) {
	v.made++
	x := &grant{id: fmt.Sprintf("session-%d-of-%s", v.made, v.name), family: &family{}}
	parent := ""
	if from != nil && !from.key {
		parent, x.family = from.id, from.family
		v.g.mu.Lock()
		from.replaced = true
		v.g.mu.Unlock()
	}
	grant := login.AttendeeGrant{Codelab: v.g.w.lab, AttendeeID: "attendee of " + x.id, ExpiresAt: time.Now().Add(time.Hour).UnixMilli()}
	_, err := s.sessions.GrantAttendee(parent, x.id, x.id, grant)
	if v.taken(s, "GrantAttendee", x.id, err) {
		v.remember(x)
	}
}

func (v *visitor) addKey(s *server) {
	v.made++
	id := fmt.Sprintf("key-%d-of-%s", v.made, v.name)
	hash := sha256.Sum256([]byte(id)) // the id is its own secret
	h, err := s.parties.Get(participant.ID)
	var value any
	if err == nil {
		value, _, err = h.Ask(participant.Command{Body: participant.Add{
			Name: id, Kind: participant.Platform, Environment: participant.Sandbox, KeyID: id, SecretHash: hash[:],
			Scopes: []string{participant.ScopeTokenize}, Identity: "identity of " + id,
		}})
	}
	if v.taken(s, "AddKey", id, err) {
		v.remember(&grant{id: id, key: true, of: value.(*participant.Participant).Id, family: &family{}})
	}
}

// remember records an acknowledged grant. It ignores the grant if the end of the grant's family was
// requested meanwhile, because the grant can then belong to another family.
func (v *visitor) remember(x *grant) {
	v.g.mu.Lock()
	defer v.g.mu.Unlock()
	if x.since = time.Now(); !x.family.ending {
		v.g.all = append(v.g.all, x)
	}
}

// end ends a grant.
func (v *visitor) end(s *server, x *grant) {
	v.g.mu.Lock()
	x.family.ending = true
	v.g.mu.Unlock()
	var err error
	if x.key {
		h, failed := s.parties.Get(participant.ID)
		if err = failed; err == nil {
			_, _, err = h.Ask(participant.Command{Body: participant.RemoveKey{ID: x.of, KeyID: x.id}})
		}
	} else {
		err = s.sessions.End(x.id)
	}
	if v.taken(s, "End", x.id, err) {
		v.g.mu.Lock()
		defer v.g.mu.Unlock()
		if x.family.ended.IsZero() {
			x.family.ended = time.Now()
		}
		late := login.MaxAge + time.Duration(v.rand.ExpFloat64()*float64(login.MaxAge/4))
		v.all.Go(func() { v.useEverywhere(x, late) })
	}
}

// useEverywhere checks a grant on every node after a delay.
func (v *visitor) useEverywhere(x *grant, after time.Duration) {
	if !v.g.w.pause(after) {
		return
	}
	for _, n := range v.g.w.nodes {
		if s := n.server.Load(); s != nil {
			v.use(s, x)
		}
	}
}

// taken records the result of an action, and reports whether a successful response arrived.
func (v *visitor) taken(s *server, what, id string, err error) bool {
	if err = s.leaves(err); err == nil {
		v.g.w.history.count("command", what)
		v.g.w.history.add(v.name, s.n.name, "%s %s", what, id)
		return true
	}
	v.g.w.history.add(v.name, s.n.name, "%s %s: %v", what, id, err)
	v.g.w.judge(v.name, what, s, err)
	return false
}

// settle checks every grant on every node.
func (g *grants) settle() {
	v := &visitor{g: g, name: "v0", rand: g.w.plan.random(ofVisitors - 1)}
	g.mu.Lock()
	all := g.all
	g.mu.Unlock()
	for _, x := range all {
		for _, n := range g.w.nodes {
			if s := n.server.Load(); s != nil && g.w.model.failed() == "" {
				v.use(s, x)
			}
		}
	}
}
