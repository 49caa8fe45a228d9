package git

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"atelier/actors/code"
)

// Fetch is a client's request to fetch.
type Fetch struct {
	wants, haves []string
	able         map[string]bool
	// shallow lists the commits that the client has without their parents.
	shallow map[string]bool
	// depth is the requested depth in commits. 0 means all commits.
	depth int
	// asks means that the request continues after the wants. done means that the client waits only
	// for the pack. rounds lists the number of haves before each flush.
	asks, done bool
	rounds     []int
}

// ParseFetch reads the body of a request for git-upload-pack. Its errors are *code.Problem.
func ParseFetch(body []byte) (*Fetch, error) {
	f := &Fetch{able: map[string]bool{}, shallow: map[string]bool{}}
	l := lines{bytes.NewReader(body)}
	for {
		line, end, err := l.next()
		if err != nil {
			if err == io.EOF {
				err = code.Fault("the request is cut off")
			}
			return nil, err
		}
		if end {
			break
		}
		if err := f.need(line); err != nil {
			return nil, err
		}
	}
	if len(f.wants) == 0 {
		return f, nil
	}
	for {
		line, end, err := l.next()
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			return nil, err
		}
		f.asks = true
		id, have := strings.CutPrefix(line, "have ")
		switch {
		case end:
			f.rounds = append(f.rounds, len(f.haves))
		case have && idForm.MatchString(id):
			f.haves = append(f.haves, id)
		case line == "done":
			f.done = true
			return f, nil
		default:
			return nil, code.Fault("the request contains an unknown line")
		}
	}
}

// need parses a line of the wants.
func (f *Fetch) need(line string) error {
	what, rest, _ := strings.Cut(line, " ")
	id, able, _ := strings.Cut(rest, " ")
	switch {
	case what == "want" && idForm.MatchString(id):
		if len(f.wants) == 0 {
			for one := range strings.FieldsSeq(able) {
				f.able[one] = true
			}
		}
		f.wants = append(f.wants, id)
		return nil
	case what == "shallow" && idForm.MatchString(rest):
		f.shallow[rest] = true
		return nil
	case what == "deepen":
		if n, err := strconv.ParseInt(rest, 10, 32); err == nil && n > 0 {
			f.depth = int(n)
			return nil
		}
	case what == "filter" || what == "deepen-since" || what == "deepen-not":
		return code.Fault("%s is not supported", what)
	}
	return code.Fault("the request contains an unknown line")
}

// Answer is the response to a fetch.
type Answer struct {
	// Head is the response up to the pack.
	Head []byte
	// Plan is the pack that follows, or nil if no pack follows.
	Plan *Plan
	band bool
}

// Plan lists the content of a pack.
type Plan struct {
	repo *Repository
	// send lists the commits to send. had lists the commits whose files the client already has.
	send, had []*Commit
}

// Key identifies the content of the pack: equal plans have equal keys.
func (p *Plan) Key() string {
	h := sha256.New()
	_, _ = io.WriteString(h, p.repo.Name) // never fails
	for i, list := range [][]*Commit{p.send, p.had} {
		for _, c := range list {
			_, _ = io.WriteString(h, string(rune('0'+i))+c.ID)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Refusal returns the response to a refused fetch. Git shows its text to the user.
func Refusal(text string) []byte { return appendLine(nil, "ERR %s\n", text) }

// Answer returns the response to a fetch. Errors for the client are *code.Problem.
func (r *Repository) Answer(f *Fetch) (*Answer, error) {
	a := &Answer{band: f.able["side-band-64k"]}
	if len(f.wants) == 0 {
		return a, nil
	}
	all, err := r.reach(tipsOf(r.Refs), nil)
	if err != nil {
		return nil, err
	}
	for _, id := range f.wants {
		if all[id] == nil { // all commits of the history are accepted, because a branch can move between two requests
			return nil, code.Fault("upload-pack: not our ref %s", id)
		}
	}
	// Ignore the client's shallow commits that are not in this repository.
	for id := range f.shallow {
		if all[id] == nil {
			delete(f.shallow, id)
		}
	}
	cut := f.shallow
	if f.depth > 0 {
		var news []byte
		if cut, news, err = r.deepen(f); err != nil {
			return nil, err
		}
		a.Head = append(append(a.Head, news...), flush...)
	}
	if !f.asks {
		return a, nil
	}
	has, ready := r.negotiate(a, f, all)
	if !ready {
		return a, nil
	}
	a.Plan, err = r.plan(f, has, cut)
	return a, err
}

// Branches returns the branches that a fetch requests.
func (r *Repository) Branches(f *Fetch) (out []string) {
	for _, ref := range r.Refs {
		if slices.Contains(f.wants, ref.ID) {
			out = append(out, ref.Branch)
		}
	}
	return out
}

func tipsOf(refs []Ref) (out []string) {
	for _, ref := range refs {
		out = append(out, ref.ID)
	}
	return out
}

// reach returns the commits that are reachable from the given ones, but not beyond the commits in
// cut.
func (r *Repository) reach(from []string, cut map[string]bool) (map[string]*Commit, error) {
	out := map[string]*Commit{}
	for todo := slices.Clone(from); len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if out[id] != nil {
			continue
		}
		c, err := r.commit(id)
		if err != nil {
			return nil, err
		}
		out[id] = c
		if !cut[id] {
			todo = append(todo, c.parents...)
		}
	}
	return out, nil
}

// deepen returns the commits at which the client's history will end, and the
// shallow and unshallow lines for the client.
func (r *Repository) deepen(f *Fetch) (cut map[string]bool, news []byte, err error) {
	cut = map[string]bool{}
	seen := map[string]bool{}
	level, most := slices.Clone(f.wants), f.depth
	if f.able["deepen-relative"] {
		// Start where the client's history ends; that commit counts as the first.
		level, most = slices.Collect(maps.Keys(f.shallow)), min(f.depth, math.MaxInt32-1)+1
	}
	for depth := 1; len(level) > 0; depth++ {
		var next []string
		for _, id := range level {
			if seen[id] {
				continue
			}
			seen[id] = true
			c, err := r.commit(id)
			if err != nil {
				return nil, nil, err
			}
			switch {
			case depth < most:
				next = append(next, c.parents...)
				if f.shallow[id] {
					news = appendLine(news, "unshallow %s", id)
				}
			case len(c.parents) > 0:
				cut[id] = true
				if !f.shallow[id] {
					news = appendLine(news, "shallow %s", id)
				}
			}
		}
		level = next
	}
	return cut, news, nil
}

// negotiate answers the client's haves. has contains the haves that this repository also has. ready
// reports whether a pack follows.
func (r *Repository) negotiate(a *Answer, f *Fetch, all map[string]*Commit) (has map[string]bool, ready bool) {
	has = map[string]bool{}
	detailed, last, sentReady := f.able["multi_ack_detailed"], "", false
	coming := newComing(f.wants, all)
	for i := 0; ; i++ {
		common, other := false, false
		from := 0
		if i > 0 {
			from = f.rounds[i-1]
		}
		to := len(f.haves)
		if i < len(f.rounds) {
			to = f.rounds[i]
		}
		for _, id := range f.haves[from:to] {
			switch {
			case all[id] != nil:
				first := len(has) == 0
				has[id], last, common = true, id, true
				coming.has(id)
				if detailed {
					a.Head = appendLine(a.Head, "ACK %s common\n", id)
				} else if first {
					a.Head = appendLine(a.Head, "ACK %s\n", id)
				}
			case detailed && coming.enough():
				other, sentReady = true, true
				a.Head = appendLine(a.Head, "ACK %s ready\n", id)
			default:
				other = true
			}
		}
		if i == len(f.rounds) {
			break
		}
		if detailed && common && !other && coming.enough() {
			sentReady = true
			a.Head = appendLine(a.Head, "ACK %s ready\n", last)
		}
		if len(has) == 0 || detailed {
			a.Head = appendLine(a.Head, "NAK\n")
		}
		if sentReady && f.able["no-done"] {
			a.Head = appendLine(a.Head, "ACK %s\n", last)
			return has, true
		}
	}
	switch {
	case !f.done:
		return has, false
	case len(has) == 0:
		a.Head = appendLine(a.Head, "NAK\n")
	case detailed:
		a.Head = appendLine(a.Head, "ACK %s\n", last)
	}
	return has, true
}

// coming determines whether each wanted commit is a descendant of a commit that the client has.
// Each commit is visited once, regardless of how many haves the client sends.
type coming struct {
	after map[string][]string // children of each commit
	led   map[string]bool     // the client's commits and their descendants
	open  map[string]bool     // the wanted commits that are not in led
}

func newComing(wants []string, all map[string]*Commit) *coming {
	c := &coming{map[string][]string{}, map[string]bool{}, map[string]bool{}}
	for id, one := range all {
		for _, p := range one.parents {
			c.after[p] = append(c.after[p], id)
		}
	}
	for _, id := range wants {
		c.open[id] = true
	}
	return c
}

// has records a commit that the client has.
func (c *coming) has(id string) {
	for todo := []string{id}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !c.led[id] {
			c.led[id] = true
			delete(c.open, id)
			todo = append(todo, c.after[id]...)
		}
	}
}

func (c *coming) enough() bool { return len(c.open) == 0 }

// plan returns the pack for a client that already has the commits of has, and their ancestors down to
// where its history is cut off.
func (r *Repository) plan(f *Fetch, has, cut map[string]bool) (*Plan, error) {
	from := make([]string, 0, len(has))
	for id := range has {
		from = append(from, id)
	}
	old, err := r.reach(from, f.shallow)
	if err != nil {
		return nil, err
	}
	wanted, err := r.reach(f.wants, cut)
	if err != nil {
		return nil, err
	}
	p := &Plan{repo: r}
	had := map[string]*Commit{}
	for id, c := range wanted {
		if old[id] != nil {
			continue
		}
		p.send = append(p.send, c)
		for _, parent := range c.parents {
			if old[parent] != nil {
				had[parent] = old[parent]
			}
		}
	}
	for _, c := range had {
		p.had = append(p.had, c)
	}
	byID := func(a, b *Commit) int { return strings.Compare(a.ID, b.ID) }
	slices.SortFunc(p.send, byID)
	slices.SortFunc(p.had, byID)
	return p, nil
}
