//go:build linux

package workshop

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"atelier/bench/api"
	"atelier/bench/audit"
	"atelier/bench/report"
)

// Votes describes a poll in the measured time. Each selected attendee votes once.
type Votes struct {
	// Count is the number of voters; 0 for no poll. Within is the time over which they vote.
	Count  int
	Within time.Duration
}

// before is the time between the opening of the poll and the first vote. settle is the time for the
// last responses.
const (
	before = time.Second
	settle = 3 * time.Second
)

// These are the parts of a measured time with a poll.
const (
	resting = iota
	voting
	votingParts
)

// opens returns the time at which the poll opens, since the beginning of the measured time.
func (c *Config) opens() time.Duration { return c.Duration - c.Votes.Within - before - settle }

// partOfVotes divides the measured time into a part before the poll opens, and a part during the
// votes.
func (c *Config) partOfVotes(since time.Duration) int {
	first := c.opens() + before
	switch {
	case since >= 0 && since < c.opens():
		return resting
	case since >= first && since < first+c.Votes.Within:
		return voting
	}
	return -1
}

func (v Votes) check(c *Config) error {
	switch {
	case v.Count == 0:
		return nil
	case v.Count < 0 || v.Count > c.Attendees:
		return fmt.Errorf("votes: want 1..%d, one of each attendee", c.Attendees)
	case v.Within <= 0 || c.opens() < v.Within/2:
		return fmt.Errorf("duration: with votes within %v want at least %v", v.Within, v.Within*3/2+before+settle)
	}
	return nil
}

// voteOptions is the number of options of the poll.
const voteOptions = 4

// ballotBox contains the poll and the outcome of each vote. The loop owns it.
type ballotBox struct {
	id     string
	round  int
	fates  []audit.Fate // by attendee; Unsent if they did not vote
	choice []int
	// counted is the number of frames with counts that each facilitator received during the votes.
	counted []int
	from    time.Duration
}

// planVotes plans the poll. from is the beginning of the measured time.
func (c *crowd) planVotes() {
	v := c.cfg.Votes
	if v.Count == 0 {
		return
	}
	b := &c.ballots
	b.fates, b.choice, b.counted = make([]audit.Fate, c.cfg.Attendees), make([]int, c.cfg.Attendees), make([]int, c.cfg.Facilitators)
	for i := range b.fates {
		b.fates[i] = audit.Unsent
	}
	f := c.facilitator(0)
	polls := "/codelabs/" + c.lab.ID + "/polls"
	at := c.from + c.cfg.opens()
	c.loop.Agenda.At(at, func(due time.Duration) {
		options := ""
		for i := range voteOptions {
			options += `\n- option ` + strconv.Itoa(i)
		}
		body := []byte(`{"lines":"Which?` + options + `"}`)
		c.request(opPoll, due, f, &api.Request{Method: http.MethodPost, Path: polls, Session: f.login, Body: body}, func(fate audit.Fate, a *api.Answer, _ error) {
			var made struct {
				ID    string `json:"id"`
				Round int    `json:"round"`
			}
			if fate != audit.Acknowledged || a.Decode(&made) != nil {
				return
			}
			b.id, b.round, b.from = made.ID, made.Round, at+before
			c.request(opPoll, c.clock.Now(), f, &api.Request{Method: http.MethodPost, Path: polls + "/" + b.id + "/open", Session: f.login}, func(audit.Fate, *api.Answer, error) {})
		})
	})
	// The votes have equal intervals and a random order.
	order, turn := c.rng.Perm(c.cfg.Attendees), 0
	gap := v.Within / time.Duration(v.Count)
	for n := range v.Count {
		c.loop.Agenda.At(at+before+time.Duration(n)*gap, func(due time.Duration) {
			for turn < len(order) {
				p := c.people[order[turn]]
				if turn++; p.joined() && !p.stalled {
					c.vote(p, due)
					return
				}
			}
		})
	}
}

func (c *crowd) vote(p *person, due time.Duration) {
	b := &c.ballots
	if b.id == "" {
		return // the poll could not be opened, which is reported
	}
	choice := c.rng.IntN(voteOptions)
	b.choice[p.index], b.fates[p.index] = choice, audit.Unanswered
	r := &api.Request{
		Method: http.MethodPut, Path: "/codelabs/" + c.lab.ID + "/polls/" + b.id + "/vote", Session: p.login,
		Body: fmt.Appendf(nil, `{"round":%d,"choice":[%d]}`, b.round, choice),
	}
	c.request(opVote, due, p, r, func(fate audit.Fate, _ *api.Answer, _ error) { b.fates[p.index] = fate })
}

// countsSeen records that a facilitator received the counts of the poll.
func (c *crowd) countsSeen(p *person) {
	b, now := &c.ballots, c.clock.Now()
	if p.facilitator && b.id != "" && now >= b.from && now < b.from+c.cfg.Votes.Within {
		b.counted[p.index-c.cfg.Attendees]++
	}
}

// closePoll closes the poll.
func (r *run) closePoll() {
	if b := &r.crowd.ballots; b.id != "" {
		path := "/codelabs/" + r.crowd.lab.ID + "/polls/" + b.id + "/close"
		if a, err := r.clients.Node(0).Do(&api.Request{Method: http.MethodPost, Path: path, Session: r.admin}); err != nil || !a.OK() {
			r.result.Faults = append(r.result.Faults, "the poll could not be closed")
		}
	}
}

// readVotes counts the stored votes of each attendee, together with the attendee's choice.
func (r *run) readVotes(client *api.Client, t *truth) error {
	c := r.crowd
	if c.ballots.id == "" {
		return nil
	}
	a, err := client.Do(&api.Request{Method: http.MethodGet, Path: "/codelabs/" + c.lab.ID + "/export/polls.csv", Session: r.admin})
	if err != nil {
		return err
	}
	rows, err := csv.NewReader(bytes.NewReader(a.Body)).ReadAll()
	if err != nil || len(rows) == 0 {
		return fmt.Errorf("read the votes: %w", err)
	}
	who, what := slices.Index(rows[0], "attendee_id"), slices.Index(rows[0], "answer")
	t.votes = make([]int, c.cfg.Attendees)
	for _, row := range rows[1:] {
		i, known := c.byID[row[who]]
		if !known || row[what] != "option "+strconv.Itoa(c.ballots.choice[i]) {
			t.strangeVotes++
			continue
		}
		t.votes[i]++
	}
	var polls []struct {
		ID     string `json:"id"`
		Counts []int  `json:"counts"`
	}
	if err := client.Get(r.admin, "/codelabs/"+c.lab.ID+"/polls", &polls); err != nil {
		return err
	}
	counts := make([]int, voteOptions)
	for i, n := range t.votes {
		counts[c.ballots.choice[i]] += n
	}
	for _, p := range polls {
		if p.ID == c.ballots.id && !slices.Equal(p.Counts, counts) {
			r.result.Faults = append(r.result.Faults, fmt.Sprintf("the poll counts %v, and has the votes %v", p.Counts, counts))
		}
	}
	return nil
}

// verifyVotes verifies the votes, and the number of counts that facilitators received.
func (r *run) verifyVotes(t *truth, writes map[string]audit.Writes) {
	c := r.crowd
	if c.cfg.Votes.Count == 0 {
		return
	}
	if c.ballots.id == "" {
		r.result.Faults = append(r.result.Faults, "the poll was not opened")
		return
	}
	w := audit.Reconcile(c.ballots.fates, t.votes)
	w.Phantom += t.strangeVotes
	writes["votes"] = w
	// Four frames per second are expected, in addition to those in progress at both ends.
	if most, told := int(4*c.cfg.Votes.Within.Seconds())+2, slices.Max(c.ballots.counted); told > most {
		r.result.Faults = append(r.result.Faults, fmt.Sprintf("a facilitator got %d frames with counts in %v, which is more than 4 a second", told, c.cfg.Votes.Within))
	}
}

// nameParts sets the names of the parts of a measured time with a poll.
func (c *Config) nameParts(parts []report.Part) {
	if c.Votes.Count > 0 {
		parts[resting].Name, parts[voting].Name = "resting", "voting"
	}
}
