package layout

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"atelier/actors/durable"
)

// SealBytes is the size of a seal. Every stored value is sealed: it consists of a CRC32C of key and
// payload, and the payload. The checksum includes the key, so that a value under a wrong key is
// detected.
const SealBytes = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal writes the checksum into value[:4]; the payload after it must be complete.
func Seal(key, value []byte) {
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value[SealBytes:])
	binary.BigEndian.PutUint32(value, sum)
}

// Sealed returns a copy of payload with its seal.
func Sealed(key, payload []byte) []byte {
	value := make([]byte, SealBytes, SealBytes+len(payload))
	value = append(value, payload...)
	Seal(key, value)
	return value
}

// Unseal verifies the seal and returns the payload, which shares value's memory.
func Unseal(key, value []byte) ([]byte, error) {
	if len(value) < SealBytes {
		return nil, fmt.Errorf("%w: an entry of %s with %d bytes", durable.ErrCorrupt, Describe(key), len(value))
	}
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value[SealBytes:])
	if sum != binary.BigEndian.Uint32(value) {
		return nil, fmt.Errorf("%w: checksum of an entry of %s", durable.ErrCorrupt, Describe(key))
	}
	return value[SealBytes:], nil
}
