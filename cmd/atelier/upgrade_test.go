package main

import (
	"strings"
	"testing"
)

// An upgrade reports the new format of the data, and that only a backup leads back.
func TestAnUpgradeOfTheFormatHasABackupAsItsWayBack(t *testing.T) {
	for _, c := range []struct {
		found, writes   int
		data, way, back string
	}{
		{2, 3, "a start brings it from format 2 to 3", "a backup alone", "backup"},
		{3, 3, "it has format 3, and keeps it", "opens the same data", "data"},
		{0, 3, "there is none", "opens the same data", "data"},
	} {
		u := upgrade{Found: c.found, Writes: c.writes, WayBack: "data"}
		u.data(nil)
		u.back()
		if data, way := u.Checks[0], u.Checks[1]; !data.OK || !strings.Contains(data.Text, c.data) || !strings.Contains(way.Text, c.way) || u.WayBack != c.back {
			t.Errorf("format %d to %d: %+v, the way back is %s", c.found, c.writes, u.Checks, u.WayBack)
		}
	}
}
