package durable

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The kinds of messages between nodes about one actor. First, the requests, which go to the owner
// except for askTake:
const (
	askCommand  byte = 'c' // execute an encoded command
	askPosition byte = 'p' // return the last acknowledged position
	askFollow   byte = 'f' // send the events; must be repeated to continue
	askLeave    byte = 'l' // stop sending
	askTake     byte = 't' // take this actor; sent to a node that does not own it
)

// Answers to requests:
const (
	answerDone      byte = 'd' // a position, and a value
	answerRefused   byte = 'r' // a refusal
	answerElsewhere byte = 'e' // this node does not own the actor and did nothing
)

// Messages from the owner to all followers:
const (
	kindBatch byte = 'b' // committed records
	kindNews  byte = 'n' // a commit that is too large for a message; followers read the log
	kindBeat  byte = 'h' // the position
	kindBye   byte = 'q' // the owner is about to release the actor
	// kindAside is sent by any node to all other nodes with the actor in memory; see
	// Handle.Broadcast.
	kindAside byte = 'a'
)

// ask is a request about one actor.
type ask struct {
	op   byte
	id   string
	body []byte
}

func (a ask) encode() []byte {
	b := make([]byte, 0, 1+binary.MaxVarintLen16+len(a.id)+len(a.body))
	b = append(b, a.op)
	b = binary.AppendUvarint(b, uint64(len(a.id)))
	return append(append(b, a.id...), a.body...)
}

func parseAsk(b []byte) (a ask, ok bool) {
	if len(b) == 0 {
		return a, false
	}
	n, size := binary.Uvarint(b[1:])
	if size <= 0 || n > uint64(len(b)-1-size) {
		return a, false
	}
	rest := b[1+size:]
	return ask{b[0], string(rest[:n]), rest[n:]}, true
}

// answer is the answer to an ask.
type answer struct {
	kind byte
	seq  uint64
	body []byte
}

func (a answer) encode() []byte {
	b := make([]byte, 0, 1+binary.MaxVarintLen64+len(a.body))
	b = append(b, a.kind)
	b = binary.AppendUvarint(b, a.seq)
	return append(b, a.body...)
}

func parseAnswer(b []byte) (a answer, err error) {
	if len(b) == 0 {
		return a, fmt.Errorf("%w: an empty answer", ErrUnavailable)
	}
	seq, size := binary.Uvarint(b[1:])
	if size <= 0 {
		return a, fmt.Errorf("%w: an answer without a position", ErrUnavailable)
	}
	return answer{b[0], seq, b[1+size:]}, nil
}

var elsewhere = answer{kind: answerElsewhere}.encode()

// replication is an owner's message to the followers.
type replication struct {
	kind    byte
	seq     uint64   // for a batch the seq of its first record, otherwise the position
	chain   uint64   // the hash of the log at the end of the batch, or at the position
	origins []uint64 // the sessions of a batch's records, or of the records up to the position
	records Records  // the records of a batch
}

// origin returns the session that caused a record, or 0 if the message does not contain it.
func (t replication) origin(seq uint64) uint64 {
	first := t.seq
	if t.kind != kindBatch {
		first -= uint64(len(t.origins)) - 1
	}
	if i := seq - first; seq >= first && i < uint64(len(t.origins)) {
		return t.origins[i]
	}
	return 0
}

func (t replication) encode() []byte {
	b := make([]byte, 0, 32+2*len(t.origins)+len(t.records))
	b = append(b, t.kind)
	b = binary.AppendUvarint(b, t.seq)
	b = binary.BigEndian.AppendUint64(b, t.chain)
	b = binary.AppendUvarint(b, uint64(len(t.origins)))
	for _, o := range t.origins {
		b = binary.AppendUvarint(b, o)
	}
	return append(b, t.records...)
}

func parseReplication(b []byte) (t replication, ok bool) {
	if len(b) == 0 {
		return t, false
	}
	t.kind, b = b[0], b[1:]
	number := func() (n uint64) {
		n, size := binary.Uvarint(b)
		if ok = size > 0; ok {
			b = b[size:]
		}
		return n
	}
	if t.seq = number(); !ok || len(b) < chainBytes {
		return t, false
	}
	t.chain, b = binary.BigEndian.Uint64(b), b[chainBytes:]
	n := number()
	if !ok || n > uint64(len(b)) {
		return t, false
	}
	for range n {
		o := number()
		if !ok {
			return t, false
		}
		t.origins = append(t.origins, o)
	}
	t.records = b
	return t, true
}

// messageKinds maps subjects to the names of message kinds.
var messageKinds = []struct {
	subject string
	answer  bool
	kinds   map[byte]string
}{
	{"ask.", false, map[byte]string{
		askCommand: "ask command", askPosition: "ask position", askFollow: "ask follow", askLeave: "ask leave", askTake: "ask take",
	}},
	{"ask.", true, map[byte]string{answerDone: "answer done", answerRefused: "answer refused", answerElsewhere: "answer elsewhere"}},
	{"actor.", false, map[byte]string{
		kindBatch: "tell batch", kindNews: "tell news", kindBeat: "tell beat", kindBye: "tell bye", kindAside: "tell aside",
	}},
}

// MessageKind returns the kind of a message between nodes, or "" if the message does not belong to
// this package.
func MessageKind(subject string, answer bool, data []byte) string {
	for _, m := range messageKinds {
		if m.answer == answer && len(data) > 0 && strings.HasPrefix(subject, m.subject) {
			return m.kinds[data[0]]
		}
	}
	return ""
}

// MessageKinds returns all kinds, sorted.
func MessageKinds() (all []string) {
	for _, m := range messageKinds {
		all = append(all, slices.Collect(maps.Values(m.kinds))...)
	}
	slices.Sort(all)
	return all
}
