package markdown

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestNotesAreRemoved tests the server with the same cases as the browser app
// (transport/web/app/src/markdown/notes.test.ts).
func TestNotesAreRemoved(t *testing.T) {
	file, err := os.ReadFile("testdata/notes.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Cases []struct {
			Name, Text, Attendees string
			Notes                 []string
		}
	}
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all.Cases {
		t.Run(c.Name, func(t *testing.T) {
			if got := WithoutNotes(c.Text); got != c.Attendees {
				t.Errorf("attendees get\n%q, want\n%q", got, c.Attendees)
			}
			notes := []string{}
			for text := c.Text; ; {
				spans := Notes(text)
				if len(spans) == 0 {
					break
				}
				for _, n := range spans {
					notes = append(notes, text[n.Start:n.End])
				}
				text = without(text, spans)
			}
			if !slices.Equal(notes, c.Notes) {
				t.Errorf("the notes are\n%q, want\n%q", notes, c.Notes)
			}
		})
	}
}

// pieces are lines of notes, and lines of constructs that hide notes.
var pieces = rapid.SampledFrom([]string{
	"text", "", "   ", "# a", "---", "===", "- item", "- ", "  inner", "    deep", "1. one", "2. two", "> quote", ">", "> - both", "[a]: b",
	"```", "```notes", "~~~notes x", "~~~", "````md", "````", "  ```notes", "  ```", "    ```notes", "- ```notes", "> ```notes", "> ```", "2. ```", "   ```notes",
	"Positive", ": ```notes", "<div>", "</div>", "<b>", "<pre>", "</pre>", "<!--", "-->", "<!-- a -->", "<script>", "</script>", "`", "``", "a `b",
	`<aside class="facilitator">`, "<aside", "class='facilitator'", ">", "</aside>", `a <aside class=facilitator> b`, "a </aside> b", "  </aside>", `<aside class="positive">`,
	"`</aside>`", "\\</aside>", "> </aside>", "\tx", "a\rb", "```notes\r```",
})

// Removing notes twice equals removing them once: the text for attendees contains none.
func TestRemovingNotesTwiceEqualsRemovingThemOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 1, 14).Draw(t, "lines"), "\n")
		once := WithoutNotes(text)
		if twice := WithoutNotes(once); twice != once {
			t.Fatalf("the text\n%q\nwithout notes\n%q\nwithout notes again\n%q", text, once, twice)
		}
	})
}

// For a note at the start of a line, with any text before, after and in it, no word of the note
// reaches attendees.
func TestNoWordOfANoteReachesAttendees(t *testing.T) {
	open := map[string]string{"```notes": "```", "~~~~ notes a": "~~~~", `<aside class="x facilitator">`: "</aside>"}
	rapid.Check(t, func(t *rapid.T) {
		lines := func(name string) []string { return rapid.SliceOfN(pieces, 0, 6).Draw(t, name) }
		first := rapid.SampledFrom([]string{"```notes", "~~~~ notes a", `<aside class="x facilitator">`}).Draw(t, "note")
		inside := slices.Concat(lines("in"), []string{"secret"})
		if strings.HasPrefix(first, "<") {
			inside = []string{"secret", "`</aside>`", "", "secret"}
		} else {
			inside = slices.DeleteFunc(inside, func(l string) bool { return strings.Contains(l, open[first]) })
		}
		// The text before the note must leave no block open. Otherwise the note could be part of a
		// comment or code.
		before := lines("before")
		quiet := WithoutNotes(strings.Join(append(slices.Clone(before), "", "shown"), "\n"))
		if s := (&Scanner{source: []byte(strings.Join(before, "\n") + "\n\n"), strict: true}); s.endsIn() != noLeaf || !strings.Contains(quiet, "shown") {
			t.Skip("the text before leaves a block open")
		}
		text := strings.Join(slices.Concat(before, []string{"", first}, inside, []string{open[first]}, lines("behind")), "\n")
		if got := WithoutNotes(text); strings.Contains(got, "secret") {
			t.Fatalf("of the text\n%q\nattendees get\n%q", text, got)
		}
	})
}

// endsIn reads to the end and returns the block that is still open.
func (s *Scanner) endsIn() leaf {
	for _, more := s.Next(); more; _, more = s.Next() {
	}
	return s.leaf
}

// Texts without notes are returned unchanged, without an allocation.
func TestTextsWithoutNotesAreReturnedUnchanged(t *testing.T) {
	text := strings.Repeat("Some *text* with <b>elements</b> and <a href='x'>links</a>.\n\n```go\nfunc main() {}\n```\n", 500)
	if n := testing.AllocsPerRun(10, func() {
		if WithoutNotes(text) != text {
			t.Error("a text without notes is changed")
		}
	}); n != 0 {
		t.Errorf("removing notes from a text without notes makes %v allocations", n)
	}
}

// A text of twice the length takes at most about twice the steps, whatever it repeats.
func TestRemovingNotesTakesLinearTime(t *testing.T) {
	for _, part := range []string{
		"```notes\n", "```notes\n```\n", "> ```notes\n", "- ```notes\n", "a\n```notes\nx\n```\n2. ```\n   ```notes\n   y\n   ```\n", "<aside class=facilitator>\n", "<aside\n", "<aside \"", "</aside>",
		"<aside class=facilitator></aside>", "<!--<aside", "`` ` ", "`</aside>`", "\\", "<aside class='", "notes\n\n", "<div>\n```notes\n```\n", "<aside\n\n", "` `` ``` ",
		"<!--\n", "<!-- --!>\n", "<?\n", "<pre>\n", "<pre></pre>\n", "```\n", "````\n```\n", "> ```\n", "[a]: b\n<b>\n```\n", "- <b>\na\n", "```a\n\n~~~~\n",
	} {
		looked := func(n int) (steps int) {
			text := "notes\n" + strings.Repeat(part, n)
			for range maxPasses {
				spans, n := read(text)
				text, steps = without(text, spans), steps+n
			}
			return steps
		}
		if short, long := looked(2000), looked(4000); long > 2*short+short/4+100 {
			t.Errorf("%q: 2,000 repetitions take %d steps, 4,000 take %d", part, short, long)
		}
	}
}

func FuzzNotes(f *testing.F) {
	f.Add("a\n```notes\nb\n```\n")
	f.Add("<aside class=\"facilitator\">\n\n</aside>\n")
	f.Fuzz(func(t *testing.T, text string) {
		once := WithoutNotes(text)
		if WithoutNotes(once) != once {
			t.Errorf("removing notes again changes %q", once)
		}
	})
}
