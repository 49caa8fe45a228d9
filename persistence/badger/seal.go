package badger

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"atelier/actors/durable"
)

// Every value in the store is sealed: four bytes of CRC32C over key and
// payload, then the payload. The key is part of it so that a value which
// turns up under a wrong key is found out too.
const sealBytes = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal writes the checksum into value[:4]; the payload behind it is complete.
func seal(key, value []byte) {
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value[sealBytes:])
	binary.BigEndian.PutUint32(value, sum)
}

// sealed returns a copy of payload with its seal.
func sealed(key, payload []byte) []byte {
	value := make([]byte, sealBytes, sealBytes+len(payload))
	value = append(value, payload...)
	seal(key, value)
	return value
}

// unseal checks the seal and returns the payload, which shares value's memory.
func unseal(key, value []byte) ([]byte, error) {
	if len(value) < sealBytes {
		return nil, fmt.Errorf("%w: %d bytes under key %q", durable.ErrCorrupt, len(value), key)
	}
	sum := crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value[sealBytes:])
	if sum != binary.BigEndian.Uint32(value) {
		return nil, fmt.Errorf("%w: checksum of key %q", durable.ErrCorrupt, key)
	}
	return value[sealBytes:], nil
}
