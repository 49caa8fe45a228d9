package main

import (
	"errors"
	"strings"
	"testing"
)

// An upgrade reports the new data format, and that only a backup can undo it.
func TestOnlyABackupCanUndoAnUpgradeOfTheFormat(t *testing.T) {
	for _, c := range []struct {
		found, writes   int
		data, way, back string
	}{
		{2, 3, "a start converts it from format 2 to 3", "only a backup", "backup"},
		{3, 3, "it has format 3, and keeps it", "opens the same data", "data"},
		{0, 3, "there is none", "opens the same data", "data"},
	} {
		u := upgrade{Found: c.found, Writes: c.writes}
		u.data("/data", nil)
		u.back()
		if data, way := u.Checks[0], u.Checks[1]; !data.OK || !strings.Contains(data.Text, c.data) || !strings.Contains(way.Text, c.way) || u.WayBack != c.back {
			t.Errorf("format %d to %d: %+v, the way back is %s", c.found, c.writes, u.Checks, u.WayBack)
		}
	}
}

// If the data is unreadable, the report does not promise that another program can open it.
func TestUnreadableDataHasNoKnownWayBack(t *testing.T) {
	for name, u := range map[string]*upgrade{"damaged": {Writes: 3}, "newer": {Found: 9, Writes: 3}} {
		var err error
		if name == "damaged" {
			err = errors.New("the store is damaged")
		}
		u.data("/data", err)
		u.back()
		if data, way := u.Checks[0], u.Checks[1]; data.OK || u.WayBack != "" || !strings.Contains(way.Text, "not known") {
			t.Errorf("%s: %+v, the way back is %q", name, u.Checks, u.WayBack)
		}
	}
}
