//go:build linux

package beside

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"atelier/bench/api"
	"atelier/bench/audit"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/workshop"
)

// Polls is a workshop with a poll at the end of the measured time. The fields with a help text are
// flags of cmd/atelier-bench.
type Polls struct {
	workshop.Config `kong:"set=attendees=1000,set=duration=30s,set=join=20s,set=reads=1"`

	Votes  int           `default:"500" group:"Polls" help:"Number of voters; each votes once."`
	Within time.Duration `default:"10s" group:"Polls" help:"Time over which the votes are spread, at the end of the measured time."`
}

// before is the time between the opening of the poll and the first vote. settle is the time for the
// last responses.
const (
	before = time.Second
	settle = 3 * time.Second
)

// opens returns the time at which the poll opens, since the beginning of the measured time.
func (c *Polls) opens() time.Duration { return c.Duration - c.Within - before - settle }

// Check refuses invalid values.
func (c *Polls) Check() error {
	switch {
	case c.Votes < 1 || c.Votes > c.Attendees:
		return fmt.Errorf("votes: want 1..%d, at most one per attendee", c.Attendees)
	case c.Within <= 0 || c.opens() < c.Within/2:
		return fmt.Errorf("duration: with votes within %v want at least %v", c.Within, c.Within*3/2+before+settle)
	}
	return c.Config.Check()
}

// Names lists the values that a run measures.
func (c *Polls) Names() report.Names { return names("poll", "vote") }

// Run runs the workshop and the poll. An error means that there are no results.
func (c *Polls) Run(ctx context.Context, target *server.Target) (*report.Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return run(ctx, "polls", c.Config, target, func(s *site) load {
		return &polls{cfg: c, site: s, counts: make([]int, c.Facilitators), poll: report.NewTally("poll"), vote: report.NewTally("vote")}
	})
}

// polls contains the poll, and the outcome of each vote.
type polls struct {
	cfg *Polls
	*site
	rng  *rand.Rand
	live *workshop.Live

	path   string // path of the poll; "" if the poll could not be opened
	round  int
	voters []api.Person
	choice []int // the chosen option of each voter
	poll   *report.Tally
	vote   *report.Tally
	// Guarded by mu. fates contains the outcome of each voter's vote. counts contains, for each
	// facilitator, the number of frames with the poll's counts that arrived during the votes.
	fates  []audit.Fate
	counts []int
}

// options is the number of options of the poll.
const options = 4

func (l *polls) prepare(_ context.Context, w *workshop.Config) error {
	l.rng = rand.New(rand.NewPCG(w.Seed, 3))
	w.Unstored = l.counted
	return nil
}

// partOf divides the measured time into the time before the poll opens, and the time of the votes.
// For all other moments it returns -1.
func (l *polls) partOf(since time.Duration) int {
	first := l.cfg.opens() + before
	switch {
	case since >= 0 && since < l.cfg.opens():
		return without
	case since >= first && since < first+l.cfg.Within:
		return with
	}
	return -1
}

// counted counts a frame to a facilitator, if the frame has the poll's counts and arrives during
// the votes.
func (l *polls) counted(facilitator int, kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if kind == "poll_counts" && l.live != nil && l.partOf(time.Since(l.live.Began)) == with {
		l.counts[facilitator]++
	}
}

func (l *polls) run(ctx context.Context, live *workshop.Live) {
	l.note(func() { l.live = live })
	opens := live.Began.Add(l.cfg.opens())
	if !pacing.SleepUntil(ctx, opens) || !l.open(opens) {
		return
	}
	// The votes have equal intervals and a random order.
	order := l.rng.Perm(len(live.People))
	order = order[:min(l.cfg.Votes, len(order))]
	l.fates, l.choice = make([]audit.Fate, len(order)), make([]int, len(order))
	for n, i := range order {
		l.fates[n], l.choice[n] = audit.Unsent, l.rng.IntN(options)
		l.voters = append(l.voters, live.People[i])
	}
	var voting sync.WaitGroup
	for n := range l.voters {
		due := opens.Add(before + time.Duration(n)*l.cfg.Within/time.Duration(l.cfg.Votes))
		if !pacing.SleepUntil(ctx, due) {
			break
		}
		voting.Go(func() { l.cast(n, due) })
	}
	voting.Wait()
	_, _ = l.request(l.poll, time.Now(), l.by(live.Facilitator, "POST", l.path+"/close", nil)) // the tally counts a failure
}

func (l *polls) by(s api.Session, method, path string, body []byte) *api.Request {
	return &api.Request{Method: method, Path: path, Session: s, Body: body}
}

// open creates the poll and opens it. It returns false if either request failed.
func (l *polls) open(due time.Time) bool {
	path, lines := "/codelabs/"+l.live.Codelab+"/polls", ""
	for i := range options {
		lines += `\n- option ` + strconv.Itoa(i)
	}
	a, err := l.request(l.poll, due, l.by(l.live.Facilitator, "POST", path, []byte(`{"lines":"Which?`+lines+`"}`)))
	var made struct {
		ID    string `json:"id"`
		Round int    `json:"round"`
	}
	if err != nil || a.Decode(&made) != nil {
		return false
	}
	path += "/" + made.ID
	if _, err := l.request(l.poll, time.Now(), l.by(l.live.Facilitator, "POST", path+"/open", nil)); err != nil {
		return false
	}
	l.path, l.round = path, made.Round
	return true
}

// cast casts the vote of a voter.
func (l *polls) cast(n int, due time.Time) {
	body := fmt.Appendf(nil, `{"round":%d,"choice":[%d]}`, l.round, l.choice[n])
	a, err := l.request(l.vote, due, l.by(l.voters[n].Session, "PUT", l.path+"/vote", body))
	fate := audit.Acknowledged
	switch {
	case err == nil:
	case a != nil:
		fate = audit.Refused
	case api.Unsent(err):
		fate = audit.Unsent
	default:
		fate = audit.Unanswered
	}
	l.note(func() { l.fates[n] = fate })
}

// conclude compares the votes of the run with the votes that the server has stored.
func (l *polls) conclude(out *report.Result) {
	out.Operations = append(out.Operations, l.poll.Result(), l.vote.Result())
	fault := func(format string, args ...any) { out.Faults = append(out.Faults, fmt.Sprintf(format, args...)) }
	if l.path == "" {
		if !out.Interrupted {
			fault("the poll was not opened")
		}
		return
	}
	stored, strange, err := l.stored()
	if err != nil {
		fault("the votes could not be read back: %v", err)
		return
	}
	w := audit.Reconcile(l.fates, stored)
	w.Phantom += strange
	if out.Audit.Writes == nil {
		out.Audit.Writes = map[string]audit.Writes{}
	}
	out.Audit.Writes["votes"] = w
	if err := l.verifyCounts(stored); err != nil {
		fault("%v", err)
	}
	// At most four frames per second are expected, and one more at each end of the votes.
	if most, got := int(4*l.cfg.Within.Seconds())+2, slices.Max(l.counts); got > most {
		fault("a facilitator received %d frames with counts in %v, which is more than 4 per second", got, l.cfg.Within)
	}
}

// stored reads the votes from the server. It counts each voter's stored votes for the voter's own
// choice. strange is the number of all other stored votes.
func (l *polls) stored() (votes []int, strange int, err error) {
	a, err := l.Do(&api.Request{Method: "GET", Path: "/codelabs/" + l.live.Codelab + "/export/polls.csv", Session: l.admin})
	if err == nil {
		err = a.Err()
	}
	if err != nil {
		return nil, 0, err
	}
	rows, err := csv.NewReader(bytes.NewReader(a.Body)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, 0, errors.Join(errors.New("the table of votes is not CSV with a header"), err)
	}
	who, what := slices.Index(rows[0], "attendee_id"), slices.Index(rows[0], "answer")
	if who < 0 || what < 0 {
		return nil, 0, fmt.Errorf("the table of votes has the columns %q", rows[0])
	}
	number := map[string]int{}
	for n, p := range l.voters {
		number[p.ID] = n
	}
	votes = make([]int, len(l.voters))
	for _, row := range rows[1:] {
		if n, known := number[row[who]]; known && row[what] == "option "+strconv.Itoa(l.choice[n]) {
			votes[n]++
		} else {
			strange++
		}
	}
	return votes, strange, nil
}

// verifyCounts compares the stored votes with the counts that the server returns for the poll.
func (l *polls) verifyCounts(votes []int) error {
	var shown []struct {
		ID     string `json:"id"`
		Counts []int  `json:"counts"`
	}
	path := "/codelabs/" + l.live.Codelab + "/polls"
	if err := l.Get(l.admin, path, &shown); err != nil {
		return err
	}
	counts := make([]int, options)
	for n, times := range votes {
		counts[l.choice[n]] += times
	}
	for _, p := range shown {
		switch {
		case path+"/"+p.ID != l.path:
			continue
		case !slices.Equal(p.Counts, counts):
			return fmt.Errorf("the server returns the counts %v for the poll, but the stored votes add up to %v", p.Counts, counts)
		}
		return nil
	}
	return errors.New("the server does not list the poll any more")
}
