package doctor

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestFindingsFailBeyondTheirLimits(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	ends := func(in time.Duration) Finding { return Certificate("cert.pem", now.Add(in), now) }
	const day = 24 * time.Hour
	for _, c := range []struct {
		what  string
		found Finding
		text  string // part of the text of a failed check; "" if the check passes
	}{
		{"enough descriptors", Descriptors(1600, "it", 300), ""},
		{"too few descriptors", Descriptors(1599, "it", 300), "it can open 1599 files, and 300 people need 1600"},
		{"enough space", Space(3<<30+300*eachHandsIn, 1<<30, 300), ""},
		{"too little space", Space(3<<30+300*eachHandsIn-1, 1<<30, 300), "a day with 300 people can need 5.9"},
		{"enough memory", Memory(512<<20, 300), ""},
		{"too little memory for a large room", Memory(1<<30-1, 3000), "there are 1023 MiB of memory, and a server for 3000 people needs 1 GiB"},
		{"too little memory for a larger room", Memory(2<<30, 20_001), "needs 3 GiB"},
		{"a quick disk", Sync(SlowSync), ""},
		{"a slow disk", Sync(ms(21)), "after 21ms"},
		{"quick commits", Commits(SlowSync, SlowTail), ""},
		{"slow commits", Commits(ms(21), ms(21)), "each message waits"},
		{"some slow commits", Commits(ms(1), ms(251)), "one write in a hundred takes 251ms"},
		{"short waits", Waits(SlowTail), ""},
		{"long waits", Waits(ms(251)), "waits 251ms"},
		{"a certificate with two weeks left", ends(14 * day), ""},
		{"a certificate with days left", ends(14*day - time.Second), "ends on 23 March 2026"},
		{"an expired certificate", ends(-day), "ended on 8 March 2026"},
	} {
		if f := c.found; f.OK != (c.text == "") || !strings.Contains(f.Text, c.text) || f.Text == "" || (f.Remedy == "") != f.OK {
			t.Errorf("%s: the finding is %+v", c.what, f)
		}
	}
}

// The machine requirements in the pages are those that the doctor checks.
func TestPagesHaveTheNumbersThatTheDoctorChecks(t *testing.T) {
	page := func(name string) string {
		b, err := os.ReadFile("../deploy/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	rows := ""
	for _, g := range growths {
		rows += g.row()
	}
	if !strings.Contains(page("CAPACITY.md"), rows) {
		t.Errorf("CAPACITY.md lacks\n%s", rows)
	}
	g := GrowthOf(People)
	day := gb(512<<20 + g.Written + g.HandedIn())
	if want := fmt.Sprintf("The server takes %s of the memory\nat most, and a day with %d people %.1f GB of the disk.", binary(g.Memory), People, day); !strings.Contains(page("TOMORROW.md"), want) {
		t.Errorf("TOMORROW.md lacks %q", want)
	}
}
