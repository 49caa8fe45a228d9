package bus

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
)

// sessionBytes is the length of a session's id.
const sessionBytes = 16

// session identifies one Bus from Open to Close: the incarnation of its node. The session cannot be
// known in advance, so a message that contains its receiver's session was made for that session.
// The zero session belongs to nobody.
type session [sessionBytes]byte

// keys derives all keys from the cluster's secret.
type keys struct{ master []byte }

// stretchRounds makes each guess of a secret cost 30 ms of CPU time, because an attacker can record
// messages and guess the secret on another machine.
const stretchRounds = 100_000

// newKeys returns the keys of a cluster. Clusters with the same secret but different names have
// different keys.
func newKeys(secret, cluster string) (keys, error) {
	master, err := pbkdf2.Key(sha256.New, secret, []byte("atelier messages between nodes\x00"+cluster), stretchRounds, 32)
	return keys{master}, err
}

// routePassword returns the password between NATS servers. The secret itself is never sent.
func (k keys) routePassword() (string, error) {
	b, err := hkdf.Key(sha256.New, k.master, nil, "route", 32)
	return fmt.Sprintf("%x", b), err
}

// of returns the cipher of one session of a node.
func (k keys) of(node string, s session) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, k.master, s[:], "messages of "+node, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// The format of a NATS message:
//
//	version      1 byte
//	node         1 byte with its length, and the name of the sender
//	session      16 bytes, the sender's
//	receiver     16 bytes, the receiving session; zero for broadcasts and greetings
//	serial       8 bytes, big-endian; each message of a session has its own
//	sealed       AES-256-GCM under the sender's key: kind (1 byte), then as varints
//	             the serial of the first part, the number of this part and the number
//	             of parts, and the data; with a tag of 16 bytes
//
// The seal covers everything before it, the subject and the reply subject. The
// nonce is the serial.
const (
	sealVersion = 2
	nonceBytes  = 12
	tagBytes    = 16
	fixedBytes  = 2 + 2*sessionBytes + 8
	maxOverhead = fixedBytes + 64 + 1 + 3*binary.MaxVarintLen64 + tagBytes
)

// kind is the type of a message.
type kind byte

const (
	kindData kind = iota
	// kindStale answers a request that was made for another session, or by an unknown session. The
	// request was not delivered.
	kindStale
)

// part is the content of one NATS message: one of count parts of a message. number counts from 0.
// first is the serial of the message's first part.
type part struct {
	kind          kind
	first         uint64
	number, count int
	data          []byte
}

// address is the destination of a message.
type address struct {
	subject, reply string
	receiver       session
}

// sealer seals the messages of one session. It is safe for concurrent use.
type sealer struct {
	node    string
	session session
	aead    cipher.AEAD
	serial  atomic.Uint64 // of the last message
	scratch sync.Pool     // of *scratch
}

// scratch has reusable buffers for sealing and opening.
type scratch struct {
	message, covered []byte
	nonce            [nonceBytes]byte
}

func newSealer(k keys, node string) (*sealer, error) {
	s := &sealer{node: node}
	_, _ = rand.Read(s.session[:]) // never fails
	s.scratch.New = func() any { return new(scratch) }
	var err error
	s.aead, err = k.of(node, s.session)
	return s, err
}

// with seals a part under a serial and calls send with the message, which is valid during the call.
func (s *sealer) with(to address, serial uint64, p part, send func([]byte) error) error {
	sc := s.scratch.Get().(*scratch)
	defer s.scratch.Put(sc)
	b := append(sc.message[:0], sealVersion, byte(len(s.node)))
	b = append(b, s.node...)
	b = append(b, s.session[:]...)
	b = append(b, to.receiver[:]...)
	b = binary.BigEndian.AppendUint64(b, serial)
	head := len(b)
	b = append(b, byte(p.kind))
	b = binary.AppendUvarint(b, p.first)
	b = binary.AppendUvarint(b, uint64(p.number))
	b = binary.AppendUvarint(b, uint64(p.count))
	b = append(b, p.data...)
	sc.cover(to.subject, to.reply, b[:head], serial)
	b = s.aead.Seal(b[:head], sc.nonce[:], b[head:], sc.covered)
	if sc.message = b; cap(b) > maxScratch {
		sc.message = nil
	}
	return send(b)
}

// maxScratch is the maximum size of a buffer that is kept for reuse, in bytes.
const maxScratch = 64 << 10

// cover sets the authenticated data of a seal, and the nonce.
func (sc *scratch) cover(subject, reply string, head []byte, serial uint64) {
	c := binary.AppendUvarint(sc.covered[:0], uint64(len(subject)))
	c = append(c, subject...)
	c = binary.AppendUvarint(c, uint64(len(reply)))
	c = append(c, reply...)
	sc.covered = append(c, head...)
	binary.BigEndian.PutUint64(sc.nonce[nonceBytes-8:], serial)
}

// envelope is the unencrypted part of a message. Its slices belong to the message.
type envelope struct {
	node             []byte
	sender, receiver session
	serial           uint64
	head, sealed     []byte
}

// parseEnvelope parses a message's envelope. ok is false if it is malformed.
func parseEnvelope(b []byte) (e envelope, ok bool) {
	if len(b) < fixedBytes+tagBytes || b[0] != sealVersion {
		return e, false
	}
	n := int(b[1])
	if len(b) < fixedBytes+n+tagBytes {
		return e, false
	}
	e.node = b[2 : 2+n]
	at := 2 + n
	at += copy(e.sender[:], b[at:])
	at += copy(e.receiver[:], b[at:])
	e.serial = binary.BigEndian.Uint64(b[at:])
	e.head, e.sealed = b[:at+8], b[at+8:]
	return e, true
}

// open decrypts a message in place. It returns false if the message was not made with this cipher,
// for this subject and reply subject, or if its content is malformed.
func (s *sealer) open(aead cipher.AEAD, subject, reply string, e envelope) (p part, ok bool) {
	sc := s.scratch.Get().(*scratch)
	defer s.scratch.Put(sc)
	sc.cover(subject, reply, e.head, e.serial)
	b, err := aead.Open(e.sealed[:0], sc.nonce[:], e.sealed, sc.covered)
	if err != nil || len(b) == 0 {
		return p, false
	}
	p.kind, b = kind(b[0]), b[1:]
	var numbers [3]uint64
	for i := range numbers {
		size := 0
		if numbers[i], size = binary.Uvarint(b); size <= 0 {
			return p, false
		}
		b = b[size:]
	}
	p.first = numbers[0]
	if numbers[2] < 1 || numbers[2] > maxParts || numbers[1] >= numbers[2] {
		return p, false
	}
	p.number, p.count, p.data = int(numbers[1]), int(numbers[2]), b
	return p, true
}
