package badger

import (
	"errors"
	"slices"
	"testing"
)

// A process can end after its logs were flushed and before its next transaction. The mark then
// contains a log that no longer exists, and Badger numbers logs from 1 again. In an earlier
// version, the store did not notice these new logs: it reserved no space for them, and did not
// detect their loss.
func TestALogWithAReusedNumberIsRecorded(t *testing.T) {
	dir, _, _ := crashed(t, 20)
	s, err := Open(small(dir))
	if err != nil {
		t.Fatal(err)
	}
	version := s.db.MaxVersion()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	m, _, err := openMark(dir, false)
	if err == nil {
		err = errors.Join(m.setLogs([]uint32{3}, 3, version), m.close())
	}
	if err != nil {
		t.Fatal(err)
	}
	reserved := 0
	s = openTest(t, small(dir), hooks{reserve: func(string, int64) error { reserved++; return nil }})
	present, _, err := s.presentLogs()
	if err != nil {
		t.Fatal(err)
	}
	var noted []uint32
	for _, l := range s.mark.state.logs {
		if l.log != flushed {
			noted = append(noted, l.log)
		}
	}
	if reserved == 0 || !slices.Equal(noted, present) {
		t.Errorf("the logs are %d, the mark has %d, space was reserved for %d", present, noted, reserved)
	}
}
