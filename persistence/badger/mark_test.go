package badger

import "testing"

// If the mark cannot be written, the store stops. Otherwise an older copy of the folder could
// silently replace later commits.
func TestAMarkThatCannotBeWrittenStopsWriting(t *testing.T) {
	s, err := open(small(t.TempDir()), hooks{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // returns an error, because the mark is already closed
	l := openLog(t, s, "actor/1")
	if err := commit(l, 1, "before"); err != nil {
		t.Fatal(err)
	}
	if err := s.mark.close(); err != nil {
		t.Fatal(err)
	}
	first := commit(l, 2, "without a mark") // the record is on disk, whatever commit returns
	if err := commit(l, 3, "after it"); err == nil {
		t.Errorf("the store still writes; the append before returned %v", first)
	}
}
