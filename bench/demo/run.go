package demo

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelier/bench/api"
)

// The codelab, as claat has it, and the questions at its end.
var (
	//go:embed codelab.md
	codelab []byte
	//go:embed quizzes.json
	quizzes []byte
)

// Config is the configuration of the workshop.
type Config struct {
	// Attendees, at least one.
	Attendees int
	// Speed is how many times as fast as the codelab says people are; 1 is a
	// human pace.
	Speed float64
	// Join is over how long they arrive; not made faster.
	Join time.Duration
	// Seed decides what kind of people they are.
	Seed uint64
	// Note receives a person's errors. May be nil. Called from many goroutines.
	Note func(text string)
}

// Target is the server, which speaks plain HTTP.
type Target struct {
	URL, AdminID, AdminPW string
}

// demo is one workshop. Immutable once people live in it, but for noPulse.
type demo struct {
	cfg       Config
	client    *api.Client
	lab       string // id
	socket    string // URL of the codelab's WebSocket
	steps     []time.Duration
	questions []question
	// noPulse is set when the server knows no such message.
	noPulse atomic.Bool
}

// question is one of the quiz.
type question struct {
	ID      string   `json:"id"`
	Kind    string   `json:"quiz_type"`
	Options []string `json:"options"`
	Correct *int     `json:"correct_answer"`
}

// answer is right for two of three people, and among the wrong ones the first is
// the most common.
func (q question) answer(rng *rand.Rand) string {
	if q.Kind != "multiple_choice" || q.Correct == nil || len(q.Options) < 2 {
		return pick(rng, []string{"A service for my own notes", "A small chat", "I do not know yet"})
	}
	if rng.IntN(3) > 0 {
		return strconv.Itoa(*q.Correct)
	}
	wrong := (*q.Correct + 1) % len(q.Options)
	if rng.IntN(3) == 0 {
		wrong = (wrong + 1) % len(q.Options)
	}
	return strconv.Itoa(wrong)
}

// Workshop is a prepared workshop.
type Workshop struct {
	// ID and Title of the codelab.
	ID, Title string
	demo      *demo
}

// requestWithin bounds one REST request.
const requestWithin = 30 * time.Second

// Prepare makes the codelab on the server.
func Prepare(cfg Config, target Target) (*Workshop, error) {
	if cfg.Attendees < 1 || cfg.Speed <= 0 {
		return nil, errors.New("demo: want at least one attendee and a speed above 0")
	}
	client, err := api.New(target.URL, "", requestWithin)
	if err != nil {
		return nil, err
	}
	admin, err := client.Login(target.AdminID, target.AdminPW, "Demo")
	if err != nil {
		return nil, err
	}
	lab, err := client.Import(admin, "codelab.md", codelab)
	if err != nil {
		return nil, err
	}
	d := &demo{cfg: cfg, client: client, lab: lab.ID}
	d.socket = "ws" + strings.TrimPrefix(target.URL, "http") + "/api/ws/" + lab.ID + "?as=attendee"
	settings, err := json.Marshal(map[string]any{"is_public": true, "quiz_enabled": true, "questions": "open", "share_code": "all"})
	if err != nil {
		return nil, err
	}
	for path, body := range map[string][]byte{"": settings, "/quizzes": quizzes} {
		a, err := client.Do(&api.Request{Method: "PUT", Path: "/codelabs/" + lab.ID + path, Session: admin, Body: body})
		if err == nil {
			err = a.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("prepare the codelab: %w", err)
		}
	}
	if err := preparePolls(client, admin, lab.ID); err != nil {
		return nil, err
	}
	if err := prepareCode(client, admin, lab.ID); err != nil {
		return nil, err
	}
	var record api.Codelab
	var steps []struct {
		Minutes int `json:"duration_minutes"`
	}
	if err := client.Get(admin, "/codelabs/"+lab.ID, &[2]any{&record, &steps}); err != nil {
		return nil, err
	}
	for _, s := range steps {
		d.steps = append(d.steps, time.Duration(max(s.Minutes, 1))*time.Minute)
	}
	if err := client.Get(admin, "/codelabs/"+lab.ID+"/quizzes", &d.questions); err != nil {
		return nil, err
	}
	return &Workshop{ID: lab.ID, Title: record.Title, demo: d}, nil
}

// Run lets people work until ctx ends.
func (w *Workshop) Run(ctx context.Context) {
	d := w.demo
	defer d.client.Close()
	var all sync.WaitGroup
	for i := range d.cfg.Attendees {
		rng := rand.New(rand.NewPCG(d.cfg.Seed, uint64(i)))
		p := &person{demo: d, rng: rng, plan: makePlan(rng, d.steps, i), name: "Attendee " + strconv.Itoa(i+1), code: fmt.Sprintf("%06d", i+1)}
		all.Go(func() { p.live(ctx) })
	}
	all.Wait()
}

// note reports an error.
func (d *demo) note(format string, args ...any) {
	if d.cfg.Note != nil {
		d.cfg.Note(fmt.Sprintf(format, args...))
	}
}
