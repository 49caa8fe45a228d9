package journaltest_test

import (
	"bytes"
	"errors"
	"testing"

	"atelier/actors/durable"
)

func FuzzRecords(f *testing.F) {
	f.Add([]byte(durable.Records(nil).Add([]byte("a")).Add(nil)))
	f.Add([]byte{5, 'a'})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, input []byte) {
		var again durable.Records
		n := 0
		err := durable.Records(input).Each(func(record []byte) error {
			again = again.Add(record)
			n++
			return nil
		})
		if durable.Records(input).Len() != n {
			t.Fatalf("Len is not %d", n)
		}
		if err != nil {
			if !errors.Is(err, durable.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		// A length can be encoded in more bytes than needed, so only the contents are compared.
		var records [][]byte
		_ = durable.Records(input).Each(func(r []byte) error { records = append(records, r); return nil })
		i := 0
		_ = again.Each(func(r []byte) error {
			if !bytes.Equal(r, records[i]) {
				t.Fatalf("record %d: %q became %q", i, records[i], r)
			}
			i++
			return nil
		})
		if i != n {
			t.Fatalf("%d records became %d", n, i)
		}
	})
}
