//go:build linux

package tokens

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"time"

	"atelier/bench/latency"
	"atelier/bench/report"
)

// code returns the error code in a response, at most 40 bytes, or "" if there is none.
func code(body []byte) string {
	_, rest, ok := bytes.Cut(body, []byte(`"code":"`))
	if !ok {
		return ""
	}
	name, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(name[:min(len(name), 40)])
}

// worker runs pairs on its own connections.
type worker struct {
	r     *run
	party *party
	conn  caller
	rival caller // the second caller of a token
	out   []byte

	tokenize, detokenize, pair *report.Tally
	lag                        *latency.Histogram
	// wrong, doubled and denied count violations: credentials that differ from the original, tokens
	// that returned their credential twice, and tokens that returned it to neither of two callers.
	wrong, doubled, denied int
	// raced is the number of tokens that two callers used concurrently. won is the number of these
	// with exactly one winner.
	raced, won int
	// begun is the number of pairs scheduled in the measured time. contested is the number of these
	// that were planned for two callers.
	begun, contested int
}

func newWorker(r *run, i int) *worker {
	// The two callers of a token use two nodes, if there are several.
	return &worker{
		r: r, party: &r.parties[i%len(r.parties)], conn: caller{clients: r.clients, node: i}, rival: caller{clients: r.clients, node: i + 1},
		tokenize: report.NewTally("tokenize"), detokenize: report.NewTally("detokenize"), pair: report.NewTally("pair"), lag: latency.New(),
	}
}

// credential appends the card of a pair, as JSON. Each pair has a unique card number.
func credential(dst []byte, pair int64) []byte {
	dst = append(dst, `{"type":"card","card_number_type":"fpan","number":"`...)
	dst = appendNumber(dst, pair)
	return append(dst, `","expiry_month":12,"expiry_year":2031,"cvc":"123"}`...)
}

// appendNumber appends a card number: 4, fourteen digits of the pair's number, and the check digit
// of Luhn's algorithm.
func appendNumber(dst []byte, pair int64) []byte {
	var d [16]byte
	d[0] = '4'
	for i := 14; i >= 1; i-- {
		d[i] = byte('0' + pair%10)
		pair /= 10
	}
	sum := 0
	for i := range 15 {
		v := int(d[14-i] - '0')
		if i%2 == 0 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	d[15] = byte('0' + (10-sum%10)%10)
	return append(dst, d[:]...)
}

// mint tokenizes the card of a pair. token is valid until the next call on the connection.
func (w *worker) mint(pair int64) (token []byte, ok bool) {
	w.out = append(w.out[:0], `{"credential":`...)
	w.out = credential(w.out, pair)
	w.out = append(w.out, `,"binding":{"checkout_id":"bench-`...)
	w.out = fmt.Appendf(w.out, "%d", pair)
	w.out = append(w.out, `","identity":{"access_token":"`...)
	w.out = append(w.out, w.party.identity...)
	w.out = append(w.out, `"}}}`...)
	status, body, err := w.conn.post("tokenize", w.r.path+"/handler/tokenize", w.party.platformKey, w.key(pair), w.out)
	if err != nil || status != 200 {
		w.fail(w.tokenize, status, body, err)
		return nil, false
	}
	_, rest, _ := bytes.Cut(body, []byte(`"token":"`))
	token, _, ok = bytes.Cut(rest, []byte(`"`))
	if !ok {
		w.fail(w.tokenize, status, nil, nil)
		return nil, false
	}
	w.r.timeline.Sent()
	return token, true
}

// late records how late the generator runs a measured operation. The worker was idle, so the delay
// is caused by the generator.
func (w *worker) late(due, measuredFrom time.Duration) {
	if due >= measuredFrom {
		w.lag.Record(w.r.clock.Now() - due)
	}
}

// do runs one pair that was scheduled for a given time.
func (w *worker) do(pair int64, due time.Duration, measured bool) {
	contested := w.r.contested(pair)
	if measured {
		w.begun++
		if contested {
			w.contested++
		}
	}
	token, ok := w.mint(pair)
	minted := w.r.clock.Now()
	if !ok {
		return
	}
	w.tokenize.Succeed(minted-due, measured)
	w.out = append(w.out[:0], `{"token":"`...)
	w.out = append(w.out, token...)
	w.out = append(w.out, `","binding":{"checkout_id":"bench-`...)
	w.out = fmt.Appendf(w.out, "%d", pair)
	w.out = append(w.out, `"}}`...)
	path := w.r.path + "/handler/detokenize"
	if contested {
		w.race(pair, path)
		return
	}
	status, body, err := w.conn.post("detokenize", path, w.party.businessKey, "", w.out)
	if err != nil || status != 200 {
		w.fail(w.detokenize, status, body, err)
		return
	}
	used := w.r.clock.Now()
	w.check(pair, body)
	w.detokenize.Succeed(used-minted, measured)
	w.pair.Succeed(used-due, measured)
	w.r.timeline.Done(used-due, measured)
}

// race lets two callers use a token concurrently.
func (w *worker) race(pair int64, path string) {
	w.raced++
	var status [2]int
	var body [2][]byte
	var errs [2]error
	var wg sync.WaitGroup
	for i, c := range []*caller{&w.conn, &w.rival} {
		wg.Go(func() { status[i], body[i], errs[i] = c.post("detokenize", path, w.party.businessKey, "", w.out) })
	}
	wg.Wait()
	winners := 0
	for i := range status {
		switch {
		case errs[i] != nil:
			w.fail(w.detokenize, 0, nil, errs[i])
		case status[i] == 200:
			winners++
			w.check(pair, body[i])
		case status[i] != 410:
			w.fail(w.detokenize, status[i], body[i], nil)
		}
	}
	switch {
	case winners == 1:
		w.won++
	case winners > 1:
		w.doubled++
	// A caller that got no response can be the winner.
	case settles(status[0], errs[0]) && settles(status[1], errs[1]):
		w.denied++
	}
}

// settles reports whether a response proves the outcome of a request.
func settles(status int, err error) bool {
	return err == nil && status != http.StatusServiceUnavailable
}

// fail records an unexpected response. It keeps only the error code, because the rest can contain a
// secret. With several nodes, a 503 counts as no response instead of a refusal, because the node
// that responds may have lost its connection to the node that has the token.
func (w *worker) fail(t *report.Tally, status int, body []byte, err error) {
	switch {
	case err != nil:
		t.GiveUp(err.Error())
	case w.r.clients.Size() > 1 && !settles(status, err):
		t.GiveUp("status 503")
	default:
		t.Refuse(fmt.Sprintf("status %d %s", status, code(body)))
	}
	w.r.timeline.Failed()
}

// check compares the returned credential of a pair with the original one.
func (w *worker) check(pair int64, body []byte) {
	w.out = credential(w.out[:0], pair)
	if !bytes.Equal(w.out, body) {
		w.wrong++
	}
}

// key returns the Idempotency-Key of a tokenization, if there is another node for retries.
func (w *worker) key(pair int64) string {
	if w.r.clients.Size() == 1 {
		return ""
	}
	return fmt.Sprintf("%s-%d", w.r.marker, pair)
}
