//go:build linux

package rest

import (
	"context"
	"fmt"
	"time"

	"atelier/bench/api"
	"atelier/bench/audit"
	"atelier/bench/latency"
	"atelier/bench/pacing"
	"atelier/bench/report"
)

const paragraph = "Read this, try it, and ask when you are stuck. Read this, try it, and ask when you are stuck. Read this, try it, and ask when you are stuck.\n"

// request makes the request with this number, and returns its kind and the response.
type request func(w *worker, number int64) (kind string, status int, body []byte, err error)

// worker is one connection of one person.
type worker struct {
	r       *run
	conn    api.Conn
	me      api.Person
	headers string // headers of the person's requests
	admin   string // headers of a facilitator's requests
	base    string // path of the codelab
	body    []byte
	tallies map[string]*report.Tally
	lag     *latency.Histogram
}

func (r *run) worker(i int) *worker {
	w := &worker{
		r: r, me: r.people[i%len(r.people)], admin: r.admin.Headers(), base: r.clients.Node(i).Path() + "/api/codelabs/" + r.lab.ID,
		conn: api.Conn{Address: r.clients.Node(i).Address(), Host: r.clients.Node(i).Host()}, tallies: map[string]*report.Tally{}, lag: latency.New(),
	}
	w.headers = w.me.Session.Headers()
	if r.cfg.Compressed {
		w.headers += "Accept-Encoding: gzip, br\r\n"
		w.admin += "Accept-Encoding: gzip, br\r\n"
	}
	return w
}

// work sends requests until none are left, or the time has passed.
func (w *worker) work(ctx context.Context, s *pacing.Schedule, count int, do request) {
	defer w.conn.Close()
	for ctx.Err() == nil {
		number, due, ok := s.Take(w.r.clock.Now())
		if !ok || count > 0 && number >= int64(count) {
			return
		}
		if wait := due - w.r.clock.Now(); wait > 0 {
			if !pacing.Sleep(ctx, wait) {
				return
			}
			w.late(due)
		}
		kind, status, body, err := do(w, number)
		w.note(kind, due, status, body, err)
	}
}

// late records how late the generator sends a measured request. The worker was idle, so the delay
// is caused by the generator.
func (w *worker) late(due time.Duration) {
	if due >= w.r.from {
		w.lag.Record(w.r.clock.Now() - due)
	}
}

// note counts a response, or a request without a response.
func (w *worker) note(kind string, due time.Duration, status int, body []byte, err error) {
	t := w.tallies[kind]
	if t == nil {
		t = report.NewTally(kind)
		w.tallies[kind] = t
	}
	switch {
	case err != nil:
		t.GiveUp(err.Error())
		w.r.timeline.Failed()
	case status/100 != 2:
		t.Refuse(fmt.Sprintf("status %d: %.200s", status, body))
		w.r.timeline.Failed()
	default:
		took, measured := w.r.clock.Now()-due, due >= w.r.from && due < w.r.until
		t.Succeed(took, measured)
		w.r.timeline.Done(took, measured)
	}
}

// read makes one read request.
func (w *worker) read(number int64) (string, int, []byte, error) {
	kind := w.r.cfg.Read[number%int64(len(w.r.cfg.Read))]
	path, headers := w.base, w.headers
	switch kind {
	case "attendees":
		path, headers = w.base+"/attendees", w.admin
	case "self":
		path = w.base + "/attendees/" + w.me.ID
	case "chat", "help":
		path = w.base + "/" + kind
	}
	status, body, err := w.conn.Do("GET", path, headers, nil)
	return "read " + kind, status, body, err
}

// write makes one write request. Its response means that the data is durable.
func (w *worker) write(number int64) (string, int, []byte, error) {
	kind := w.r.cfg.Write[number%int64(len(w.r.cfg.Write))]
	path := w.base + "/messages"
	chat := -1
	switch kind {
	case "chat":
		chat = w.r.addMessage()
		w.body = fmt.Appendf(w.body[:0], `{"type":"chat","message":"%s%d"}`, w.r.marker, chat)
	case "step":
		w.body = fmt.Appendf(w.body[:0], `{"type":"step_progress","step_number":%d}`, 1+number%8)
	case "help":
		path = w.base + "/help"
		w.body = fmt.Appendf(w.body[:0], `{"step_number":%d}`, 1+number%8)
	}
	status, body, err := w.conn.Do("POST", path, w.headers, w.body)
	if chat >= 0 {
		w.r.fate(chat, status, err)
	}
	return "write " + kind, status, body, err
}

// addMessage assigns a number to a chat message. Until a response arrives, its fate is Unanswered.
func (r *run) addMessage() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fates = append(r.fates, audit.Unanswered)
	return len(r.fates) - 1
}

func (r *run) fate(n, status int, err error) {
	f := audit.Acknowledged
	switch {
	case err != nil:
		return
	case status/100 != 2:
		f = audit.Refused
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fates[n] = f
}
