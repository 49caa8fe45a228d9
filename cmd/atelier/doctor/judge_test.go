package doctor

import (
	"strings"
	"testing"
	"time"
)

func TestWhatIsJudgedHasItsBound(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	ends := func(in time.Duration) Finding { return Certificate("cert.pem", now.Add(in), now) }
	const day = 24 * time.Hour
	for _, c := range []struct {
		what  string
		found Finding
		says  string // of what is bad; "" for what is well
	}{
		{"enough descriptors", Descriptors(1600, "it", 300), ""},
		{"too few", Descriptors(1599, "it", 300), "it may open 1599 files, and 300 people need 1600"},
		{"enough space", Space(1<<30+perDay+300*handedIn, 1<<30, 300), ""},
		{"too little", Space(1<<30+perDay+300*handedIn-1, 1<<30, 300), "a day with 300 people may need 7.9"},
		{"a quick disk", Sync(SlowSync), ""},
		{"a slow one", Sync(ms(21)), "after 21ms"},
		{"quick commits", Commits(SlowSync, SlowTail), ""},
		{"slow ones", Commits(ms(21), ms(21)), "each message waits"},
		{"some slow ones", Commits(ms(1), ms(251)), "one write in a hundred takes 251ms"},
		{"short waits", Waits(SlowTail), ""},
		{"long ones", Waits(ms(251)), "waits 251ms"},
		{"a certificate of weeks", ends(14 * day), ""},
		{"of days", ends(14*day - time.Second), "ends on 23 March 2026"},
		{"of yesterday", ends(-day), "ended on 8 March 2026"},
	} {
		if f := c.found; f.OK != (c.says == "") || !strings.Contains(f.Text, c.says) || f.Text == "" || (f.Remedy == "") != f.OK {
			t.Errorf("%s: %+v", c.what, f)
		}
	}
}
