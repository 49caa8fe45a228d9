package git

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"atelier/actors/code"
)

// packed returns a pack of encoded entries.
func packed(entries ...[]byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte(packHead), uint32(len(entries)))
	for _, e := range entries {
		b = append(b, e...)
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

// entry returns an encoded object, or a delta after the reference to its base. size is the
// announced size, which can be wrong.
func entry(kind code.ObjectKind, size int, base, content []byte) []byte {
	b := []byte{byte(kind)<<4 | byte(size&0xf)}
	for n := size >> 4; n > 0; n >>= 7 {
		b[len(b)-1] |= 0x80
		b = append(b, byte(n&0x7f))
	}
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(content) // writes to memory cannot fail
	_ = w.Close()
	return append(append(b, base...), z.Bytes()...)
}

func blobEntry(content string) []byte {
	return entry(code.BlobObject, len(content), nil, []byte(content))
}

func idOf(content string) []byte {
	b, _ := hex.DecodeString(NameOf(code.BlobObject, []byte(content)))
	return b
}

func varint(n int) (b []byte) {
	for ; n > 0x7f; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// deltaOf returns a delta that turns a base of baseSize bytes into a result of resultSize bytes.
func deltaOf(baseSize, resultSize int, ops ...byte) []byte {
	return append(append(varint(baseSize), varint(resultSize)...), ops...)
}

// nameEntry returns a delta that refers to its base by id.
func nameEntry(base, delta []byte) []byte { return entry(nameDelta, len(delta), base, delta) }

// placeEntry returns a delta that refers to its base by the distance in bytes.
func placeEntry(back byte, delta []byte) []byte {
	return entry(placeDelta, len(delta), []byte{back}, delta)
}

func unpackTest(t *testing.T, pack []byte) (*Pushed, error) {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return Unpack(bytes.NewReader(pack), int64(len(pack)), f, func(name string) (code.Object, bool, error) {
		return code.Object{Kind: code.BlobObject, Name: name, Content: []byte("elsewhere")}, name == NameOf(code.BlobObject, []byte("elsewhere")), nil
	})
}

func TestUnpack(t *testing.T) {
	hello := blobEntry("hello")
	chain := nameEntry(idOf("hello"), deltaOf(5, 10, 0x90, 5, 0x90, 5)) // copies the content twice
	pack := packed(
		nameEntry(idOf("hellohello"), deltaOf(10, 3, 0x91, 4, 3)), // a delta that precedes its base
		hello,
		placeEntry(byte(len(hello)), deltaOf(5, 6, 0x90, 5, 1, '!')),
		chain,
		nameEntry(idOf("elsewhere"), deltaOf(9, 4, 0x90, 4)),
		blobEntry(""),
	)
	p, err := unpackTest(t, pack)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"hello", "hello!", "hellohello", "ohe", "else", ""} {
		name := NameOf(code.BlobObject, []byte(want))
		kind, size, ok := p.Stat(name)
		content, err := p.Content(name)
		if kind != code.BlobObject || size != int64(len(want)) || !ok || string(content) != want || err != nil {
			t.Errorf("the object %q has the kind %v, the size %d, present %v, the content %q (%v)", want, kind, size, ok, content, err)
		}
	}
	if _, _, ok := p.Stat(NameOf(code.BlobObject, []byte("elsewhere"))); ok {
		t.Error("an object of the repository is listed as pushed")
	}
	if len(p.at) != 6 {
		t.Errorf("the pack contains %d objects, want 6", len(p.at))
	}
}

func TestHostilePacksAreRefused(t *testing.T) {
	hello := blobEntry("hello")
	good := packed(hello)
	damaged := func(at int) []byte {
		b := bytes.Clone(good)
		b[(at+len(b))%len(b)]++
		return b
	}
	summed := func(b []byte) []byte {
		sum := sha1.Sum(b)
		return append(b, sum[:]...)
	}
	zeros := make([]byte, code.MaxFile)
	// Each delta produces 8 MiB; together they exceed maxUnpacked.
	bomb := [][]byte{entry(code.BlobObject, len(zeros), nil, zeros)}
	for i := range maxUnpacked/code.MaxFile + 1 {
		delta := deltaOf(len(zeros), len(zeros))
		for left := len(zeros) - 1; left > 0; {
			n := min(left, 0xffffff)
			delta = append(delta, 0xf0, byte(n), byte(n>>8), byte(n>>16))
			left -= n
		}
		bomb = append(bomb, nameEntry(mustID(NameOf(code.BlobObject, zeros)), append(delta, 1, byte(i+1))))
	}
	many := binary.BigEndian.AppendUint32([]byte(packHead), maxObjects+1)
	for what, c := range map[string]struct {
		pack []byte
		text string
	}{
		"empty":                           {nil, "damaged"},
		"truncated":                       {good[:len(good)-1], "damaged"},
		"only a header":                   {good[:12], "damaged"},
		"a wrong checksum":                {damaged(-1), "damaged"},
		"changed content":                 {damaged(15), "damaged"},
		"a wrong signature":               {summed([]byte("PICK\x00\x00\x00\x02\x00\x00\x00\x00")), "damaged"},
		"another version":                 {summed([]byte("PACK\x00\x00\x00\x03\x00\x00\x00\x00")), "damaged"},
		"fewer objects than announced":    {summed(append(binary.BigEndian.AppendUint32([]byte(packHead), 2), hello...)), "damaged"},
		"more objects than announced":     {summed(append(binary.BigEndian.AppendUint32([]byte(packHead), 1), append(bytes.Clone(hello), hello...)...)), "damaged"},
		"too many objects":                {summed(many), "more than 100000 objects"},
		"a shorter object than announced": {packed(entry(code.BlobObject, 6, nil, []byte("hello"))), "damaged"},
		"a longer object than announced":  {packed(entry(code.BlobObject, 4, nil, []byte("hello"))), "damaged"},
		"uncompressed data":               {packed([]byte{3<<4 | 5, 'h', 'e', 'l', 'l', 'o'}), "damaged"},
		"broken compressed data":          {packed(append(bytes.Clone(hello[:len(hello)-1]), 0)), "damaged"},
		"too large":                       {packed(entry(code.BlobObject, code.MaxFile+1, nil, nil)), "larger than 8 MiB"},
		"an unterminated size":            {packed(bytes.Repeat([]byte{0xff}, 40)), "damaged"},
		"a tag":                           {packed(entry(4, 1, nil, []byte("x"))), "tags"},
		"kind 5":                          {packed(entry(5, 1, nil, []byte("x"))), "damaged"},
		"kind 0":                          {packed(entry(0, 1, nil, []byte("x"))), "damaged"},
		"a missing base":                  {packed(nameEntry(idOf("nothing"), deltaOf(7, 1, 1, 'x'))), "whose base is missing"},
		"no object at the offset":         {packed(hello, placeEntry(1, deltaOf(5, 1, 1, 'x'))), "whose base is missing"},
		"a delta of itself":               {packed(hello, placeEntry(0, deltaOf(5, 1, 1, 'x'))), "damaged"},
		"an offset before the pack":       {packed(placeEntry(100, deltaOf(5, 1, 1, 'x'))), "damaged"},
		"a cycle":                         {packed(nameEntry(idOf("a"), deltaOf(1, 1, 1, 'b')), nameEntry(idOf("b"), deltaOf(1, 1, 1, 'a'))), "whose base is missing"},
		"a base of the wrong size":        {packed(hello, nameEntry(idOf("hello"), deltaOf(4, 1, 1, 'x'))), "damaged"},
		"a copy past the end":             {packed(hello, nameEntry(idOf("hello"), deltaOf(5, 5, 0x91, 1, 5))), "damaged"},
		"a larger result than announced":  {packed(hello, nameEntry(idOf("hello"), deltaOf(5, 4, 0x90, 5))), "damaged"},
		"a smaller result than announced": {packed(hello, nameEntry(idOf("hello"), deltaOf(5, 6, 0x90, 5))), "damaged"},
		"an insert past the end":          {packed(hello, nameEntry(idOf("hello"), deltaOf(5, 6, 6, 'x'))), "damaged"},
		"operation 0":                     {packed(hello, nameEntry(idOf("hello"), deltaOf(5, 0, 0))), "damaged"},
		"a truncated copy":                {packed(hello, nameEntry(idOf("hello"), deltaOf(5, 5, 0xff))), "damaged"},
		"a delta without a size":          {packed(hello, nameEntry(idOf("hello"), []byte{0xff})), "damaged"},
		"a delta with a large result":     {packed(hello, nameEntry(idOf("hello"), deltaOf(5, code.MaxFile+1, 0x90, 5))), "larger than 8 MiB"},
		"a long delta":                    {packed(hello, entry(nameDelta, maxDelta+1, idOf("hello"), nil)), "larger than 8 MiB"},
		"a delta bomb":                    {packed(bomb...), "more than 256 MiB"},
	} {
		p, err := unpackTest(t, c.pack)
		var problem *code.Problem
		if p != nil || !errors.As(err, &problem) || !strings.Contains(problem.Text, c.text) {
			t.Errorf("%s: Unpack returned %v, want %q", what, err, c.text)
		}
	}
}

// The result of a delta counts even if the object already exists. Such a result needs no space, but
// producing it takes just as long.
func TestDeltasWithEqualResultsAreCounted(t *testing.T) {
	const size = 1 << 20
	content := strings.Repeat("x", size)
	same := deltaOf(size, size, 0x80|0x70, 0, 0, size>>16)
	entries := [][]byte{blobEntry(content)}
	for range 2 * maxUnpacked / size {
		entries = append(entries, nameEntry(idOf(content), same))
	}
	if _, err := unpackTest(t, packed(entries[:10]...)); err != nil {
		t.Errorf("9 deltas with the same result are refused: %v", err)
	}
	var wrong *code.Problem
	if _, err := unpackTest(t, packed(entries...)); !errors.As(err, &wrong) || !strings.Contains(wrong.Text, "when it is unpacked") {
		t.Errorf("Unpack returned %v, want an error that it is too large", err)
	}
}

func mustID(name string) []byte {
	b, _ := hex.DecodeString(name)
	return b
}

func FuzzUnpack(f *testing.F) {
	hello := blobEntry("hello")
	f.Add(packed(hello, placeEntry(byte(len(hello)), deltaOf(5, 6, 0x90, 5, 1, '!')), nameEntry(idOf("elsewhere"), deltaOf(9, 4, 0x90, 4))))
	f.Fuzz(func(t *testing.T, pack []byte) {
		if len(pack) > 40 { // correct the checksum; otherwise almost every input is rejected
			sum := sha1.Sum(pack[:len(pack)-20])
			copy(pack[len(pack)-20:], sum[:])
		}
		p, err := unpackTest(t, pack)
		if err != nil {
			return
		}
		for name, s := range p.at {
			content, err := p.Content(name)
			if err != nil || NameOf(s.kind, content) != name {
				t.Errorf("the object %s has the content %q, %v", name, content, err)
			}
		}
	})
}

func FuzzRequests(f *testing.F) {
	f.Add([]byte("0032want 0123456789012345678901234567890123456789\n00000009done\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, err := range []error{second(ParseFetch(body)), second(ParsePush(bytes.NewReader(body)))} {
			var problem *code.Problem
			if err != nil && !errors.As(err, &problem) {
				t.Errorf("the error %v is not a *code.Problem", err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }
