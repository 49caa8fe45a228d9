package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"atelier/actors/code"
)

var one, two, none = strings.Repeat("1", 40), strings.Repeat("2", 40), strings.Repeat("0", 40)

// request returns a complete request with these lines.
func request(content ...string) []byte {
	var b []byte
	for _, line := range content {
		b = appendLine(b, "%s", line)
	}
	return append(b, flush...)
}

// A push changes, creates and removes branches. A pack follows unless the push only removes.
func TestParsePush(t *testing.T) {
	body := request(one+" "+two+" refs/heads/main\x00report-status side-band-64k agent=git/2", "shallow "+one, none+" "+one+" refs/heads/step-1-end", two+" "+none+" refs/heads/old")
	in := bytes.NewReader(append(body, "PACK"...))
	p, err := ParsePush(in)
	want := []Command{{"main", one, two}, {"step-1-end", "", one}, {"old", two, ""}}
	if err != nil || !slices.Equal(p.Commands, want) || p.Check() != nil || !p.HasPack() || !slices.Equal(p.Tips(), []string{two, one}) || !p.report || !p.band {
		t.Errorf("ParsePush returned %+v, %v", p, err)
	}
	if rest, _ := io.ReadAll(in); string(rest) != "PACK" {
		t.Errorf("the request is followed by %q, want PACK", rest)
	}
	p, err = ParsePush(bytes.NewReader(request(two + " " + none + " refs/heads/old")))
	if err != nil || p.HasPack() || len(p.Tips()) != 0 || p.report || p.band {
		t.Errorf("for a removal ParsePush returned %+v, %v", p, err)
	}
}

// A request that no Git client would send is refused, and so is a change of a reference that is not
// a branch.
func TestInvalidPushesAreRefused(t *testing.T) {
	many := func(n int) []byte {
		var commands []string
		for i := range n {
			commands = append(commands, fmt.Sprintf("%s %s refs/heads/b%d", one, two, i))
		}
		return request(commands...)
	}
	for name, tc := range map[string]struct {
		body []byte
		why  string // "" means that the request is accepted
	}{
		"500 branches":    {many(500), ""},
		"501 branches":    {many(501), "at most 500"},
		"truncated":       {request(one + " " + two + " refs/heads/main")[:60], "cut off"},
		"without an end":  {bytes.TrimSuffix(request(one+" "+two+" refs/heads/main"), []byte(flush)), "cut off"},
		"no id at all":    {request(none + " " + none + " refs/heads/main"), "Git's format"},
		"a short id":      {request(one[1:] + " " + two + " refs/heads/main"), "Git's format"},
		"not hexadecimal": {request(strings.Repeat("x", 40) + " " + two + " refs/heads/main"), "Git's format"},
		"a tag":           {request(one + " " + two + " refs/tags/v1"), "only branches"},
		"no branch":       {request(one + " " + two + " refs/heads/"), "name"},
		"a path":          {request(one + " " + two + " refs/heads/../x"), "name"},
	} {
		p, err := ParsePush(bytes.NewReader(tc.body))
		if err == nil {
			err = p.Check()
		}
		var problem *code.Problem
		if tc.why == "" && err != nil || tc.why != "" && (!errors.As(err, &problem) || !strings.Contains(err.Error(), tc.why)) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// The response to a push reports for each branch that it was changed, or why no branch was changed.
// A reason is always on one line. With a side band, the response has pieces of a size that Git
// accepts.
func TestTheReportOfAPush(t *testing.T) {
	answer := func(able, reason string, unpacked bool) string {
		t.Helper()
		p, err := ParsePush(bytes.NewReader(request(one+" "+two+" refs/heads/a\x00"+able, one+" "+none+" refs/heads/b")))
		if err != nil {
			t.Fatal(err)
		}
		return string(p.Report(reason, unpacked))
	}
	for _, tc := range []struct {
		reason   string
		unpacked bool
		want     []string
	}{
		{"", true, []string{"unpack ok\n", "ok refs/heads/a\n", "ok refs/heads/b\n"}},
		{"somebody\nelse", true, []string{"unpack ok\n", "ng refs/heads/a somebody else\n", "ng refs/heads/b somebody else\n"}},
		{"too\x00large", false, []string{"unpack too large\n", "ng refs/heads/a unpacker error\n", "ng refs/heads/b unpacker error\n"}},
	} {
		want := string(request(tc.want...))
		if got := answer("report-status", tc.reason, tc.unpacked); got != want {
			t.Errorf("the reason %q is reported as %q, want %q", tc.reason, got, want)
		}
		if got := answer("report-status side-band-64k", tc.reason, tc.unpacked); got != string(request("\x01"+want)) {
			t.Errorf("the reason %q is reported in the side band as %q", tc.reason, got)
		}
		if got := answer("", tc.reason, tc.unpacked); got != "" {
			t.Errorf("a client without report-status receives %q, want nothing", got)
		}
	}
	long := answer("report-status", strings.Repeat("ä", 600)+"x", true)
	if !utf8.ValidString(long) || strings.Count(long, "ä") != 1000 {
		t.Errorf("a long reason is cut to %d characters, want 1000", strings.Count(long, "ä"))
	}
	var commands []string
	for i := range maxCommands {
		commands = append(commands, fmt.Sprintf("%s %s refs/heads/%s%d", one, two, strings.Repeat("b", 150), i))
	}
	plain, err := ParsePush(bytes.NewReader(request(append([]string{commands[0] + "\x00report-status"}, commands[1:]...)...)))
	if err != nil {
		t.Fatal(err)
	}
	banded := *plain
	banded.band = true
	in := lines{bytes.NewReader(banded.Report("", true))}
	whole, pieces := "", 0
	for {
		piece, end, err := in.next()
		if err != nil {
			t.Fatal(err)
		}
		if end {
			break
		}
		pieces++
		whole += strings.TrimPrefix(piece, "\x01")
	}
	if pieces < 2 || strings.ReplaceAll(whole, "\n", "") != strings.ReplaceAll(string(plain.Report("", true)), "\n", "") {
		t.Errorf("the report has %d pieces and %d bytes in them", pieces, len(whole))
	}
}
