package layout

import (
	"bytes"
	"fmt"
	"testing"
)

// The format of the store can be read from any prefix of a backup that contains it.
func TestThePrefixOfABackupContainsItsFormat(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("atelier-backup 2\nsection store\n")
	w, err := NewEntryWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	whole := bytes.Index(b.Bytes(), fmt.Appendf(nil, "store-format %d\n", Format)) + len("store-format ") + len(fmt.Sprint(Format))
	for n := range b.Len() {
		format, ok := FormatIn(b.Bytes()[:n])
		if want := n > whole; ok != want || ok && format != Format {
			t.Fatalf("FormatIn of %d bytes returned %d, %v", n, format, ok)
		}
	}
	for _, other := range []string{"", "store-format x\n", "store-format 0\n", "store-format -1\n", "store-format 99999999999999999999\n"} {
		if format, ok := FormatIn([]byte(other)); ok {
			t.Errorf("FormatIn of %q returned %d, want none", other, format)
		}
	}
}
