package broadcast

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/bench/frames"
)

// Dialect describes the protocol of a server. Patterns are regular expressions (RE2).
//
// Headers, Hello, Send and Resume are the same for all clients, except for each client's own values
// ([Seat]). For example, {{token}} is replaced by the client's value in the column "token".
type Dialect struct {
	// Columns are the names of the clients' values; nil for none.
	Columns []string `json:"columns,omitempty"`
	// Headers contains additional headers of the opening request, as "Name: value".
	Headers []string `json:"headers,omitempty"`
	// Hello is sent once after connecting.
	Hello Raw `json:"hello,omitempty"`
	// Send is the message that a publisher sends. {{stamp}} and {{seq}} are filled in, and {{pad}}
	// is filled with letters until the message has Size bytes.
	Send Raw `json:"send,omitempty"`
	Size int `json:"size,omitempty"`
	// Binary means that clients send binary messages instead of text. Servers can always send both
	// kinds.
	Binary bool `json:"binary,omitempty"`
	// Match finds messages in received frames, with groups named stamp and seq. A frame can have
	// several messages.
	Match string `json:"match,omitempty"`
	// Ready matches the message that a client waits for before it counts as connected; "" if an
	// open connection is enough.
	Ready string `json:"ready,omitempty"`
	// Ack matches the acknowledgement of a message, and Refusal its refusal. Both have a group
	// named seq. Gap matches the notice that the server could not deliver everything.
	Ack     string `json:"ack,omitempty"`
	Refusal string `json:"refusal,omitempty"`
	Gap     string `json:"gap,omitempty"`
	// Position finds, by a group named position, the position from which a client can resume. When
	// the client reconnects, Resume is added to its path, with {{position}} filled in. {{epoch}} is
	// filled in from a group named epoch of Ready, Gap or Position. Without Resume, a client does
	// not expect the messages that are sent while it is away.
	Position string `json:"position,omitempty"`
	Resume   string `json:"resume,omitempty"`
	// Beside are the messages that a subscriber sends unprompted, in turn, one per interval of
	// Load.Beside.
	Beside []string `json:"beside,omitempty"`
	// Answers contains a client's replies to messages with exactly the text of In, as for the
	// heartbeats of some protocols. A line of a message with this text also gets a reply, because
	// some servers join waiting messages into one frame.
	Answers []Answer `json:"answers,omitempty"`
}

// Answer is the reply to a message.
type Answer struct {
	In  Raw `json:"in"`
	Out Raw `json:"out"`
}

// Check refuses an invalid dialect.
func (d *Dialect) Check() error {
	var problems []error
	for _, line := range d.Headers {
		problems = append(problems, frames.CheckHeader(line), d.CheckPlaces("--header", line))
		if name, _, _ := strings.Cut(line, ":"); len(ParseTemplate(name).Places()) > 0 {
			problems = append(problems, errors.New("--header: a column is allowed only after the colon"))
		}
	}
	problems = append(problems, d.CheckPlaces("--hello", string(d.Hello)), d.CheckPlaces("--send", string(d.Send), "stamp", "seq", "pad"),
		d.CheckPlaces("--resume", d.Resume, "position", "epoch"))
	if d.Send != "" {
		for _, place := range []string{"{{stamp}}", "{{seq}}"} {
			if !strings.Contains(string(d.Send), place) {
				problems = append(problems, fmt.Errorf("the message to send has no %s", place))
			}
		}
		if d.Match == "" {
			problems = append(problems, errors.New("messages are sent, but no --match finds them in the received messages"))
		}
		if d.Size > 0 && !strings.Contains(string(d.Send), "{{pad}}") {
			problems = append(problems, errors.New("a size needs {{pad}} in the message to send"))
		}
	}
	if d.Position != "" && d.Resume == "" {
		problems = append(problems, errors.New("--position is used only in a message of --resume"))
	}
	if d.Position == "" && strings.Contains(d.Resume, "{{position}}") {
		problems = append(problems, errors.New("--resume contains {{position}}, but no --position finds it in the received messages"))
	}
	_, err := newReader(d, 0, 1)
	return errors.Join(append(problems, err)...)
}

// Reserved contains the names of places that are not allowed as names of columns.
var Reserved = []string{"stamp", "seq", "pad", "position", "epoch", SignIn}

// SignIn is the place that is replaced by the sign-in made from a client's values.
const SignIn = "sign_in"

// CheckPlaces refuses a flag's text with a place that is neither a column nor one of the flag's
// own. Without columns it accepts every text, because text in braces is literal then.
func (d *Dialect) CheckPlaces(flag, text string, own ...string) error {
	if d.Columns == nil {
		return nil
	}
	var problems []error
	for _, name := range ParseTemplate(text).Places() {
		if !slices.Contains(own, name) && !slices.Contains(d.Columns, name) {
			problems = append(problems, fmt.Errorf("%s: unknown column {{%s}}; the columns of --clients are %s", flag, name, strings.Join(d.Columns, ", ")))
		}
	}
	return errors.Join(problems...)
}

// parsed contains the parts that were found in a frame.
type parsed struct {
	messages []delivery
	ready    bool
	gap      bool
	position uint64
	epoch    string
	answer   string
	// acked and refused are sequence numbers.
	acked, refused []uint64
	// strange means that the frame has none of these parts.
	strange bool
}

// delivery is one message: its number, and its planned time, or forged if its stamp is wrong.
type delivery struct {
	seq uint64
	due time.Duration
}

// reader finds in frames the parts that a dialect describes. It is not safe for concurrent use.
//
// A regular expression costs some microseconds, and thousands of subscribers receive a message in
// the same bytes. The reader therefore caches the result for a frame, and the frame that followed
// it at the last subscriber. A repeated frame is usually only compared with this guess, and hashed
// only if the guess is wrong.
type reader struct {
	match, ready, ack, refusal, gap, position *regexp.Regexp
	matchStamp, matchSeq, ackSeq, refusalSeq  int
	positionAt                                int
	epochs                                    []epochIn
	answers, lines                            map[string]string // by frame, and by line of a frame
	sealer                                    sealer
	seed                                      maphash.Seed
	// cache consists of sets of slots. A frame belongs to one set, and the newest frame is first in
	// its set.
	cache [][ways]*known
	// beyond is above every possible number; it stands for an invalid number.
	beyond uint64
}

// known is a cached frame and its parsed parts.
type known struct {
	frame  []byte
	parsed parsed
	next   *known
}

// epochIn is a pattern that finds an epoch, and its group.
type epochIn struct {
	re    *regexp.Regexp
	group int
}

// sets and ways bound the number of cached frames, which must be larger than the number in flight
// at the same time. With two ways, a message whose last reader was 500 messages behind was parsed
// six times if three such messages fell into one set. That took a tenth of the generator's time.
const sets, ways = 1024, 8

// largestKept is the maximum length of a cached frame, in bytes.
const largestKept = 64 << 10

func newReader(d *Dialect, key sealer, publishers int) (*reader, error) {
	r := &reader{sealer: key, seed: maphash.MakeSeed(), cache: make([][ways]*known, sets), answers: map[string]string{}, lines: map[string]string{}, beyond: uint64(publishers) << 40}
	for _, a := range d.Answers {
		r.answers[string(a.In)] = string(a.Out)
		if line := strings.TrimRight(string(a.In), "\r\n"); line != "" {
			r.lines[line] = string(a.Out)
		}
	}
	var problems []error
	compile := func(what, text string, groups ...string) *regexp.Regexp {
		if text == "" {
			return nil
		}
		re, err := regexp.Compile(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", what, err))
			return nil
		}
		for _, group := range groups {
			if !slices.Contains(re.SubexpNames(), group) {
				problems = append(problems, fmt.Errorf("%s %q has no group (?P<%s>…)", what, text, group))
			}
		}
		return re
	}
	group := func(re *regexp.Regexp, name string) int {
		if re == nil {
			return -1
		}
		return re.SubexpIndex(name)
	}
	r.match = compile("match", d.Match, "stamp", "seq")
	r.ready = compile("ready", d.Ready)
	r.ack = compile("ack", d.Ack, "seq")
	r.refusal = compile("refusal", d.Refusal, "seq")
	r.gap = compile("gap", d.Gap)
	r.position = compile("position", d.Position, "position")
	r.matchStamp, r.matchSeq = group(r.match, "stamp"), group(r.match, "seq")
	r.ackSeq, r.refusalSeq = group(r.ack, "seq"), group(r.refusal, "seq")
	r.positionAt = group(r.position, "position")
	for _, re := range []*regexp.Regexp{r.ready, r.gap, r.position} {
		if g := group(re, "epoch"); g >= 0 {
			r.epochs = append(r.epochs, epochIn{re, g})
		}
	}
	return r, errors.Join(problems...)
}

// read returns the parsed parts of a frame, valid until the next call. The parameter after is the
// result for the previous frame on the same connection, however old, or nil.
func (r *reader) read(frame []byte, after *known) *known {
	if after == nil {
		return r.find(frame)
	}
	if guess := after.next; guess != nil && bytes.Equal(guess.frame, frame) {
		return guess
	}
	k := r.find(frame)
	if len(frame) <= largestKept {
		after.next = k
	}
	return k
}

// find returns the parsed parts of a frame, possibly from the cache.
func (r *reader) find(frame []byte) *known {
	set := &r.cache[maphash.Bytes(r.seed, frame)%sets]
	for _, k := range set {
		if k != nil && bytes.Equal(k.frame, frame) {
			return k
		}
	}
	if len(frame) > largestKept {
		return &known{parsed: r.parse(frame)}
	}
	k := set[ways-1] // evict the oldest
	if k == nil {
		k = &known{}
	}
	copy(set[1:], set[:ways-1])
	set[0] = k
	k.frame = append(k.frame[:0], frame...)
	k.parsed, k.next = r.parse(frame), nil
	return k
}

func (r *reader) parse(frame []byte) parsed {
	var h parsed
	if r.match != nil {
		for _, at := range r.match.FindAllSubmatchIndex(frame, -1) {
			if at[2*r.matchStamp] < 0 || at[2*r.matchSeq] < 0 {
				continue
			}
			m := delivery{r.beyond, forged}
			if seq, ok := number(frame, at, r.matchSeq); ok && seq < r.beyond {
				m.seq = seq
				if stamp, ok := number(frame, at, r.matchStamp); ok {
					m.due = r.sealer.open(stamp, seq)
				}
			}
			h.messages = append(h.messages, m)
		}
	}
	h.ready = r.ready != nil && r.ready.Match(frame)
	h.gap = r.gap != nil && r.gap.Match(frame)
	h.acked = numbers(r.ack, r.ackSeq, frame)
	h.refused = numbers(r.refusal, r.refusalSeq, frame)
	if r.position != nil {
		if at := r.position.FindSubmatchIndex(frame); at != nil {
			h.position, _ = number(frame, at, r.positionAt)
		}
	}
	for _, e := range r.epochs {
		if at := e.re.FindSubmatchIndex(frame); at != nil && at[2*e.group] >= 0 {
			h.epoch = string(frame[at[2*e.group]:at[2*e.group+1]])
		}
	}
	h.answer = r.answer(frame)
	h.strange = len(h.messages)+len(h.acked)+len(h.refused) == 0 && !h.ready && !h.gap && h.position == 0 && h.epoch == "" && h.answer == ""
	return h
}

// answer returns the reply to a frame; "" for none.
func (r *reader) answer(frame []byte) string {
	if len(r.answers) == 0 {
		return ""
	}
	if out, ok := r.answers[string(frame)]; ok {
		return out
	}
	for line := range bytes.SplitSeq(frame, []byte("\n")) {
		if out, ok := r.lines[string(bytes.TrimSuffix(line, []byte("\r")))]; ok {
			return out
		}
	}
	return ""
}

func numbers(re *regexp.Regexp, group int, frame []byte) []uint64 {
	if re == nil {
		return nil
	}
	var out []uint64
	for _, at := range re.FindAllSubmatchIndex(frame, -1) {
		if n, ok := number(frame, at, group); ok {
			out = append(out, n)
		}
	}
	return out
}

func number(frame []byte, at []int, group int) (uint64, bool) {
	if group < 0 || at[2*group] < 0 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(frame[at[2*group]:at[2*group+1]]), 10, 63)
	return n, err == nil
}
