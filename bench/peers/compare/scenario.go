package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// scenario is a kind of run.
type scenario struct {
	name, title string
	// command is the generator's command: fanout, idle or rest.
	command string
	// servers are the participants; nil for all with WebSockets.
	servers []string
	// floor is the server to which ratios refer.
	floor   string
	columns []column

	subscribers int
	// rate is in messages per second. 0 means unthrottled, with window messages of each publisher
	// in progress.
	rate, window int
	// once means that one round is enough, because memory hardly varies.
	once bool
	// writes is the operation of writes to Atelier in rest; "" means that rest reads.
	writes string
}

// publishers is the number of publishers. Atelier would soon refuse the messages of a single one,
// because it accepts at most 12,000 messages with a ref per person in ten minutes.
const publishers = 16

// answered is the length in bytes of Atelier's response for a codelab in rest. The floor sends the
// same length.
const answered = 3051

// scenarios returns the scenarios of a comparison; a short comparison has fewer subscribers.
func scenarios(short bool) []scenario {
	few, many, manyRate := 1000, 10_000, 8
	if short {
		few, many, manyRate = 100, 400, 20
	}
	return []scenario{
		{name: "most-few", title: thousands(float64(few)) + " subscribers, unthrottled", command: "fanout", floor: "floor", columns: fanoutColumns,
			subscribers: few, window: 8},
		{name: "most-many", title: thousands(float64(many)) + " subscribers, unthrottled", command: "fanout", floor: "floor", columns: fanoutColumns,
			subscribers: many, window: 2},
		{name: "paced-few", title: thousands(float64(few)) + " subscribers, 100 messages/s", command: "fanout", floor: "floor", columns: pacedColumns,
			subscribers: few, rate: 100},
		{name: "paced-many", title: fmt.Sprintf("%s subscribers, %d messages/s", thousands(float64(many)), manyRate), command: "fanout", floor: "floor",
			columns: pacedColumns, subscribers: many, rate: manyRate},
		{name: "idle", title: thousands(float64(many)) + " idle connections", command: "idle", floor: "floor", columns: idleColumns,
			subscribers: many, once: true},
		{name: "read", title: "reading over HTTP, 64 connections", command: "rest", servers: []string{"atelier", "floor-http"}, floor: "floor-http",
			columns: restColumns},
		{name: "write", title: "durable writes over HTTP, 64 connections", command: "rest", servers: []string{"atelier", "floor-badger"}, floor: "floor-badger",
			columns: restColumns, writes: "chat"},
	}
}

// has reports whether a contestant participates.
func (s *scenario) has(c *contestant) bool {
	if s.servers == nil {
		return !c.requests
	}
	return slices.Contains(s.servers, c.name)
}

// times contains the times of a run.
type times struct{ warmup, duration time.Duration }

// connectPerSecond is the number of connections opened per second.
const connectPerSecond = 4000

// connect returns the time over which the connections are opened.
func (s *scenario) connect() time.Duration {
	return max(500*time.Millisecond, time.Duration(s.subscribers)*time.Second/connectPerSecond)
}

// flags returns the flags of the generator for the scenario.
func (s *scenario) flags(c *contestant, t times, length, round int) []string {
	out := []string{s.command, "--duration", t.duration.String()}
	if s.command != "idle" {
		out = append(out, "--warmup", t.warmup.String())
	}
	if s.command == "rest" {
		return append(out, s.requests(c, length)...)
	}
	out = append(out, "--seed", strconv.Itoa(round+1), "--connect", s.connect().String(), "--settle", "1s", "--drain", "20s")
	if s.command == "idle" {
		return append(out, "--connections", strconv.Itoa(s.subscribers), "--rest", "6s")
	}
	out = append(out, "--subscribers", strconv.Itoa(s.subscribers), "--publishers", strconv.Itoa(publishers), "--rate", strconv.Itoa(s.rate),
		"--size", strconv.Itoa(c.size(length)))
	if s.rate == 0 {
		return append(out, "--window", strconv.Itoa(s.window))
	}
	// Random times would differ between servers, and runs are short.
	return append(out, "--regular")
}

// requests returns the flags for the requests. For a generic server, the generator repeats a single
// request and treats it as a read, even with a body.
func (s *scenario) requests(c *contestant, length int) []string {
	switch {
	case c.requests && s.writes == "":
		return []string{"--read-connections", "64"}
	case c.requests:
		return []string{"--read-connections", "64", "--body", strings.Repeat("x", length)}
	case s.writes == "":
		return []string{"--read-connections", "64", "--read", "codelab", "--write-connections", "0"}
	}
	return []string{"--write-connections", "64", "--write", s.writes, "--read-connections", "0"}
}

// within is the timeout of a whole run, which includes the registrations at Atelier.
func (s *scenario) within(t times) time.Duration {
	return s.connect() + t.warmup + t.duration + 90*time.Second
}
