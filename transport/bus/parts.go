package bus

import (
	"time"

	"atelier/actors/durable"
)

const (
	// partBytes is the maximum size of a NATS message's data, in bytes.
	partBytes = 512 << 10
	// maxParts bounds the parts of a message.
	maxParts = durable.MaxMessage / partBytes
	// maxOpen bounds the memory of incomplete messages, in bytes.
	maxOpen = 2 * maxParts * partBytes
	// partOverhead is the memory of a part in addition to its data, in bytes.
	partOverhead = 64
	// openFor is the time after which an incomplete message can be dropped.
	openFor = 15 * time.Second
)

// assembly joins the parts of messages. The goroutine that handles messages owns it.
type assembly struct {
	open  map[partKey]*message
	bytes int
}

type partKey struct {
	sender  session
	first   uint64
	subject string
}

type message struct {
	parts   [][]byte
	missing int
	bytes   int // the data that has arrived, and the overhead of all parts
	since   time.Time
}

// add returns the data of a message when its last missing part arrives; whole is false before. fits
// is false if the part is dropped, because no space is left, the part has already arrived, or it
// contradicts the earlier parts.
func (a *assembly) add(subject string, sender session, p part, now time.Time) (data []byte, whole, fits bool) {
	if p.count == 1 {
		return p.data, true, true
	}
	key := partKey{sender, p.first, subject}
	m := a.open[key]
	if m == nil {
		m = &message{parts: make([][]byte, p.count), missing: p.count, bytes: p.count * partOverhead, since: now}
		if a.bytes+m.bytes > maxOpen {
			return nil, false, false
		}
		a.bytes += m.bytes
		if a.open == nil {
			a.open = map[partKey]*message{}
		}
		a.open[key] = m
	}
	if len(m.parts) != p.count || m.parts[p.number] != nil {
		return nil, false, false
	}
	if a.bytes += len(p.data); a.bytes > maxOpen {
		a.bytes -= len(p.data)
		a.forget(now) // make room for later messages
		return nil, false, false
	}
	m.parts[p.number] = append([]byte{}, p.data...)
	m.bytes += len(p.data)
	if m.missing--; m.missing > 0 {
		return nil, false, true
	}
	a.drop(key)
	data = make([]byte, 0, m.bytes-p.count*partOverhead)
	for _, part := range m.parts {
		data = append(data, part...)
	}
	return data, true, true
}

// forget drops messages whose parts have not arrived in time.
func (a *assembly) forget(now time.Time) {
	for key, m := range a.open {
		if now.Sub(m.since) > openFor {
			a.drop(key)
		}
	}
}

func (a *assembly) drop(key partKey) {
	a.bytes -= a.open[key].bytes
	delete(a.open, key)
}
