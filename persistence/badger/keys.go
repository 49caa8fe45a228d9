package badger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"atelier/actors/durable"
)

// The first byte of a key is its family. See DESIGN.md for the whole layout.
const (
	familyMeta  = 'm' // name
	familyChunk = 'j' // actor 00 first-seq(8)
	familyHead  = 's' // actor 00
	familyPart  = 'p' // actor 00 snapshot-id(8) part(4)
	familyRow   = 'r' // table 00 key

	separator = 0x00
	seqBytes  = 8
)

const (
	maxActor  = 256
	maxTable  = 64
	maxRowKey = 32 << 10 // Badger ends at 65,000
)

var (
	errActor = errors.New("badger: an actor's identity is 1 to 256 bytes without NUL")
	errTable = errors.New("badger: a table's name is 1 to 64 of a-z, 0-9, - and _")
)

func checkActor(actor string) error {
	if actor == "" || len(actor) > maxActor || strings.IndexByte(actor, separator) >= 0 {
		return fmt.Errorf("%w: %q", errActor, actor)
	}
	return nil
}

func checkTable(table string) error {
	if table == "" || len(table) > maxTable {
		return fmt.Errorf("%w: %q", errTable, table)
	}
	for _, c := range []byte(table) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return fmt.Errorf("%w: %q", errTable, table)
		}
	}
	return nil
}

func checkRows(rows []durable.Row) error {
	for i := range rows {
		if err := checkTable(rows[i].Table); err != nil {
			return err
		}
		if len(rows[i].Key) > maxRowKey {
			return fmt.Errorf("%w: row key of %d bytes", durable.ErrTooLarge, len(rows[i].Key))
		}
	}
	return nil
}

// actorPrefix is the prefix of an actor's keys in a family. No identity holds
// a NUL, so no prefix of one actor is a prefix of another's.
func actorPrefix(family byte, actor string) []byte {
	key := make([]byte, 0, 1+len(actor)+1+seqBytes+4) // room for the longest
	key = append(key, family)
	key = append(key, actor...)
	return append(key, separator)
}

func chunkKey(actor string, first uint64) []byte {
	return binary.BigEndian.AppendUint64(actorPrefix(familyChunk, actor), first)
}

func partKey(actor string, id uint64, part uint32) []byte {
	key := binary.BigEndian.AppendUint64(actorPrefix(familyPart, actor), id)
	return binary.BigEndian.AppendUint32(key, part)
}

// chunkSeq reads the first seq out of a chunk's key.
func chunkSeq(key []byte, prefix int) (uint64, error) {
	if len(key) != prefix+seqBytes {
		return 0, fmt.Errorf("%w: chunk key of %d bytes", durable.ErrCorrupt, len(key))
	}
	return binary.BigEndian.Uint64(key[prefix:]), nil
}

// partOf reads snapshot id and part number out of a part's key; ok is false
// when the key has another form.
func partOf(key []byte, prefix int) (id uint64, part uint32, ok bool) {
	if len(key) != prefix+12 {
		return 0, 0, false
	}
	return binary.BigEndian.Uint64(key[prefix:]), binary.BigEndian.Uint32(key[prefix+8:]), true
}

// actorOf reads the identity out of a key of an actor's family.
func actorOf(key []byte) (string, bool) {
	end := bytes.IndexByte(key, separator)
	if end < 2 {
		return "", false
	}
	return string(key[1:end]), true
}

func appendRowKey(dst []byte, table string, key []byte) []byte {
	dst = append(dst, familyRow)
	dst = append(dst, table...)
	dst = append(dst, separator)
	return append(dst, key...)
}

// prefixEnd is the first key behind all keys with the prefix. Every prefix
// here begins with a family letter, so there always is one.
func prefixEnd(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; ; i-- {
		if end[i] != 0xff {
			end[i]++
			return end[:i+1]
		}
	}
}
