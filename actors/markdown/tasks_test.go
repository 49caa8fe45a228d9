package markdown

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTasksAreFound tests the server with the same cases as the browser app
// (transport/web/app/src/markdown/tasks.test.ts).
func TestTasksAreFound(t *testing.T) {
	file, err := os.ReadFile("testdata/tasks.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Cases []struct {
			Name, Text string
			Tasks      []Task
		}
	}
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all.Cases {
		t.Run(c.Name, func(t *testing.T) {
			if got := Tasks(c.Text); !slices.Equal(got, c.Tasks) {
				t.Errorf("found\n%q, want\n%q", got, c.Tasks)
			}
		})
	}
}

// In any text each task has a unique key, and removing notes changes no task.
func TestTasksHaveUniqueKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.OneOf(pieces, rapid.SampledFrom([]string{"- [ ] a", "- [x] a", "  - [ ] b", "> 1. [ ] a"})), 1, 20).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		found, keys := Tasks(text), map[string]bool{}
		for _, x := range found {
			if keys[x.Key] {
				t.Fatalf("in the text\n%q\nthe key %s occurs twice", text, x.Key)
			}
			keys[x.Key] = true
		}
		if !slices.Equal(found, Tasks(WithoutNotes(text))) {
			t.Fatalf("removing notes from\n%q\nchanges its tasks", text)
		}
	})
}

func TestTasksAreBounded(t *testing.T) {
	if got := Tasks(strings.Repeat("- [ ] a\n", MaxTasks+1)); len(got) != MaxTasks || got[MaxTasks-1].Key != got[0].Key+"-200" {
		t.Errorf("found %d tasks, or the last has another key", len(got))
	}
	for more, want := range []int{1, 0} {
		if got := Tasks("- [ ] " + strings.Repeat("é", maxTask+more)); len(got) != want {
			t.Errorf("a task that is %d characters longer than allowed: found %d tasks", more, len(got))
		}
	}
}

func FuzzTasks(f *testing.F) {
	f.Add("- [ ] a *b* [c](d)\n- [x] `e`\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, x := range Tasks(text) {
			if x.Text != spaced(x.Text) || len(x.Key) < 16 {
				t.Errorf("task %q has the key %q, or was not normalized", x.Text, x.Key)
			}
		}
	})
}
