package markdown

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxTasks is the maximum number of tasks of a text. Further items do not count as tasks.
const MaxTasks = 200

// maxTask bounds a task's Markdown, in code points. A longer item does not count as a task. The
// browser app has the same bound, and parses no inline markup in longer text.
const maxTask = 4000

// Task is an item of a task list (- [ ] and its text) that people tick.
type Task struct {
	// Key identifies the task in its text. It is the first 16 hex digits of the SHA-256 of Text; a
	// second task with the same Text has the suffix -2, and so on.
	Key string
	// Text is the text of the item's own paragraph, without markup. Each run of white space is one
	// space, and Unicode is composed (NFC).
	Text string
}

// box matches the box at the beginning of a task.
var box = regexp.MustCompile(`^\[[ xX]\][ \t]+`)

// defines matches a line that can define a reference.
var defines = regexp.MustCompile(`^\[((?:[^\[\]\\]|\\.)+)\]:`)

// Tasks returns the tasks of a text in order, without those in notes for facilitators. The browser
// app finds the same tasks (transport/web/app/src/markdown/tasks.ts); testdata/tasks.json has test
// cases for both. The keys are stored, so the rules that derive them must not change.
func Tasks(text string) (out []Task) {
	written, labels := tasks(text)
	times := map[string]int{}
	for _, w := range written {
		t := Task{Text: inlineText(w, labels)}
		sum := sha256.Sum256([]byte(t.Text))
		t.Key = hex.EncodeToString(sum[:8])
		if times[t.Key]++; times[t.Key] > 1 {
			t.Key += "-" + strconv.Itoa(times[t.Key])
		}
		out = append(out, t)
	}
	return out
}

// tasks returns the text of each task, and the labels of references.
func tasks(text string) (out []string, labels map[string]bool) {
	if !strings.Contains(text, "] ") && !strings.Contains(text, "]\t") {
		return nil, nil
	}
	s := &Scanner{source: []byte(WithoutNotes(text)), strict: true}
	labels = map[string]bool{}
	var task []byte // lines of the current task; nil for none
	end := func() {
		if task != nil && utf8.RuneCount(task) <= maxTask && len(out) < MaxTasks {
			out = append(out, string(task))
		}
		task = nil
	}
	for _, more := s.Next(); more; _, more = s.Next() {
		if s.inner != Paragraph {
			if s.inner == Underline {
				task = nil // it is a heading
			}
			end()
			continue
		}
		if m := defines.FindSubmatch(s.rest[:min(len(s.rest), MaxLabel)]); m != nil && m[1][0] != '^' {
			labels[Normal(m[1])] = true
		}
		if !s.innerFirst {
			if task != nil && len(task) <= maxTask*utf8.UTFMax {
				task = append(append(task, '\n'), s.rest...)
			}
			continue
		}
		end()
		if mark := box.Find(s.rest); s.item && mark != nil && len(bytes.TrimSpace(s.rest[len(mark):])) > 0 {
			task = append([]byte{}, s.rest[len(mark):]...)
		}
	}
	end()
	return out, labels
}
