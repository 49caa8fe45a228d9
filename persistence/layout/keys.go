package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"atelier/actors/durable"
)

// The first byte of a key is its family. The comments show the rest of the key; numbers in
// parentheses are lengths in bytes.
const (
	FamilyMeta  = 'm' // name
	FamilyChunk = 'j' // actor 00 first-seq(8)
	FamilyHead  = 's' // actor 00
	FamilyPart  = 'p' // actor 00 snapshot-id(8) part(4)
	FamilyRow   = 'r' // table 00 key

	separator = 0x00
	SeqBytes  = 8
)

// Bounds of names and keys, in bytes.
const (
	MaxActor  = 256
	MaxTable  = 64
	MaxRowKey = 32 << 10 // Badger's limit is 65,000
)

var (
	errActor = errors.New("store: an actor's identity is 1 to 256 bytes without NUL")
	errTable = errors.New("store: a table's name is 1 to 64 of a-z, 0-9, - and _")
)

// CheckActor returns an error if the identity of an actor is invalid.
func CheckActor(actor string) error {
	if actor == "" || len(actor) > MaxActor || strings.IndexByte(actor, separator) >= 0 {
		return fmt.Errorf("%w: %q", errActor, actor)
	}
	return nil
}

// CheckTable returns an error if the name of a table is invalid.
func CheckTable(table string) error {
	if table == "" || len(table) > MaxTable {
		return fmt.Errorf("%w: %q", errTable, table)
	}
	for _, c := range []byte(table) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return fmt.Errorf("%w: %q", errTable, table)
		}
	}
	return nil
}

// CheckRows returns an error for rows with invalid tables or keys.
func CheckRows(rows []durable.Row) error {
	for i := range rows {
		if err := CheckTable(rows[i].Table); err != nil {
			return err
		}
		if len(rows[i].Key) > MaxRowKey {
			return fmt.Errorf("%w: row key of %d bytes", durable.ErrTooLarge, len(rows[i].Key))
		}
	}
	return nil
}

// ActorPrefix returns the prefix of an actor's keys in a family. Identities contain no NUL, so the
// prefix of one actor is never a prefix of another actor's keys.
func ActorPrefix(family byte, actor string) []byte {
	key := make([]byte, 0, 1+len(actor)+1+SeqBytes+4) // capacity for the longest key
	key = append(key, family)
	key = append(key, actor...)
	return append(key, separator)
}

// ChunkKey returns the key of the chunk with this first seq.
func ChunkKey(actor string, first uint64) []byte {
	return binary.BigEndian.AppendUint64(ActorPrefix(FamilyChunk, actor), first)
}

// PartKey returns the key of a part of a snapshot.
func PartKey(actor string, id uint64, part uint32) []byte {
	key := binary.BigEndian.AppendUint64(ActorPrefix(FamilyPart, actor), id)
	return binary.BigEndian.AppendUint32(key, part)
}

// ChunkSeq parses the first seq in a chunk's key. prefix is the length of the key before the seq.
func ChunkSeq(key []byte, prefix int) (uint64, error) {
	if len(key) != prefix+SeqBytes {
		return 0, fmt.Errorf("%w: chunk key of %d bytes", durable.ErrCorrupt, len(key))
	}
	return binary.BigEndian.Uint64(key[prefix:]), nil
}

// PartOf parses snapshot id and part number in a part's key. prefix is the length of the key before
// them. ok is false if the key has another form.
func PartOf(key []byte, prefix int) (id uint64, part uint32, ok bool) {
	if len(key) != prefix+12 {
		return 0, 0, false
	}
	return binary.BigEndian.Uint64(key[prefix:]), binary.BigEndian.Uint32(key[prefix+8:]), true
}

// ActorOf parses the identity in the key of a chunk, head or part. For the key of a row, it returns
// the table.
func ActorOf(key []byte) (string, bool) {
	end := bytes.IndexByte(key, separator)
	if end < 2 {
		return "", false
	}
	return string(key[1:end]), true
}

// Describe returns a key's family, with its actor or table, for errors. It omits the keys of rows,
// because they can contain people's names.
func Describe(key []byte) string {
	if len(key) == 0 {
		return "no family"
	}
	name, _ := ActorOf(key)
	return fmt.Sprintf("family %q %s", key[0], name)
}

// AppendRowKey appends the key of a row.
func AppendRowKey(dst []byte, table string, key []byte) []byte {
	dst = append(dst, FamilyRow)
	dst = append(dst, table...)
	dst = append(dst, separator)
	return append(dst, key...)
}

// PrefixEnd returns the first key after all keys with the prefix. Such a key always exists, because
// every prefix begins with a family letter.
func PrefixEnd(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; ; i-- {
		if end[i] != 0xff {
			end[i]++
			return end[:i+1]
		}
	}
}

// SplitRowKey splits the key of a row.
func SplitRowKey(k []byte) (table string, key []byte) {
	head, key, _ := bytes.Cut(k[1:], []byte{separator})
	return string(head), key
}
