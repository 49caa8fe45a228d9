package bus

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"sync"
)

// codeBytes is the length of a message's code.
const codeBytes = 16

// sealer makes and checks the codes of messages. Safe for concurrent use.
type sealer struct{ macs sync.Pool }

func newSealer(secret string) *sealer {
	key := sha256.Sum256([]byte("atelier messages between nodes\x00" + secret))
	return &sealer{macs: sync.Pool{New: func() any { return hmac.New(sha256.New, key[:]) }}}
}

// code is that of a message on a subject.
func (s *sealer) code(subject string, body []byte) []byte {
	mac := s.macs.Get().(hash.Hash)
	defer s.macs.Put(mac)
	mac.Reset()
	mac.Write(binary.AppendUvarint(nil, uint64(len(subject))))
	mac.Write([]byte(subject))
	mac.Write(body)
	return mac.Sum(nil)[:codeBytes]
}

// part is one message of NATS, or all of it: of count parts of what its sender
// calls by this serial number.
type part struct {
	from          string
	serial        uint64
	number, count int
	data          []byte
}

// seal encodes a part that goes out on a subject.
func (s *sealer) seal(subject string, p part) []byte {
	b := make([]byte, codeBytes, codeBytes+32+len(p.from)+len(p.data))
	b = append(b, byte(len(p.from)))
	b = append(b, p.from...)
	b = binary.AppendUvarint(b, p.serial)
	b = binary.AppendUvarint(b, uint64(p.number))
	b = binary.AppendUvarint(b, uint64(p.count))
	b = append(b, p.data...)
	copy(b, s.code(subject, b[codeBytes:]))
	return b
}

// open decodes a part; false when it is not from one who knows the secret.
func (s *sealer) open(subject string, b []byte) (p part, ok bool) {
	if len(b) <= codeBytes || !hmac.Equal(b[:codeBytes], s.code(subject, b[codeBytes:])) {
		return p, false
	}
	b = b[codeBytes:]
	n := int(b[0])
	if len(b) < 1+n {
		return p, false
	}
	p.from, b = string(b[1:1+n]), b[1+n:]
	var numbers [3]uint64
	for i := range numbers {
		size := 0
		if numbers[i], size = binary.Uvarint(b); size <= 0 {
			return p, false
		}
		b = b[size:]
	}
	p.serial = numbers[0]
	if numbers[2] < 1 || numbers[2] > maxParts || numbers[1] >= numbers[2] {
		return p, false
	}
	p.number, p.count, p.data = int(numbers[1]), int(numbers[2]), b
	return p, true
}
