//go:build linux

package broadcast

import (
	"testing"
	"time"

	"atelier/bench/frames"
	"atelier/bench/pacing"
)

// to passes decoded messages to a client of an engine, as a socket does.
type to struct {
	e *Engine
	c *client
}

func (s to) Message(p []byte) {
	s.c.newest = s.e.reader.read(p, s.c.newest)
	now := s.e.now()
	for _, m := range s.c.newest.parsed.messages {
		s.e.deliver(s.c, m, now)
	}
}
func (to) Ping([]byte) {}
func (to) Close(int)   {}

// BenchmarkDeliver measures a delivery without its read(2): 64 messages of 200 bytes to each of
// 1,000 subscribers, one subscriber after the other.
func BenchmarkDeliver(b *testing.B) {
	d := chatty
	d.Size = 200
	job := &Job{Address: "127.0.0.1:1", Dialect: d, AllPublishers: 1, Subscribers: make([]Seat, 1000)}
	e, err := NewEngine(job, pacing.NewClock(), 0, func(Sample) {})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	e.load = &Load{From: 0, Until: time.Hour, Stages: []Stage{{Rate: 1}}}
	decoders := make([]frames.Decoder, 1000)
	round := uint64(0)
	var batch []byte
	const together = 64
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		if n%(together*1000) == 0 {
			batch = batch[:0]
			for i := range uint64(together) {
				payload := d.script().message(e.reader.sealer.seal(e.now(), round*together+i), round*together+i)
				batch = append(batch, 0x81, 126, byte(len(payload)>>8), byte(len(payload)))
				batch = append(batch, payload...)
			}
			round++
		}
		if n%together == 0 {
			i := n / together % 1000
			if err := decoders[i].Feed(batch, to{e, e.clients[i]}); err != nil {
				b.Fatal(err)
			}
		}
		n++
	}
}

// Beyond the number of messages whose deliveries are recorded, an unthrottled publisher still sends
// a message for each one that has reached all subscribers.
func TestTheWindowMovesInALongLoad(t *testing.T) {
	d := chatty
	e, err := NewEngine(&Job{Address: "127.0.0.1:1", Dialect: d, AllPublishers: 1, Publishers: make([]Seat, 1), Subscribers: make([]Seat, 2)}, pacing.NewClock(), 0, func(Sample) {})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.loop.Do(func() {
		e.load = &Load{Until: time.Hour, Stages: []Stage{{}}, Window: 2}
		for n := int64(maxFlights); n < maxFlights+9; n++ {
			e.windows[0].moved = -1
			if e.land(0, n, 0, false); e.windows[0].moved != -1 {
				t.Error("a message that one of two subscribers has received moved the window")
			}
			if e.land(0, n, 0, false); e.windows[0].moved == -1 {
				t.Errorf("message %d did not move the window", n)
			}
		}
		e.over = true // nothing is sent
	})
}
