package archive

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atelier/actors/codelab"
)

// An earlier version imported the export of the reference application as an empty codelab, with
// status 200.
func TestTheReferenceApplicationsLayoutIsRead(t *testing.T) {
	const record = `{"id":"x","title":"Lab","description":"D","author":"A","is_public":0,"quiz_enabled":1,"require_quiz":true,"require_feedback":0,"guide_markdown":%s,"created_at":"2026-01-02 03:04:05"}`
	files := map[string]string{
		"codelab.json": fmt.Sprintf(record, `"# Guide\n"`), "preparation_guide.md": "# Guide",
		"step_10_Last_one.md": "ten", "step_02_step.md": "# 두 번째\ntext", "step_01_First.md": "one ![](a.png)", "a.png": "x", "step_3_step.md": "no heading",
	}
	c, left, err := readAll(pack(t, files))
	if err != nil || len(left) != 0 {
		t.Fatalf("left out %v, %v", left, err)
	}
	var got []string
	for _, st := range c.Steps {
		got = append(got, st.Title+"|"+st.ContentMarkdown)
	}
	want := []string{"First|one ![](/uploads/" + c.Uploads[0].Name + ")", "두 번째|# 두 번째\ntext", "Step 3|no heading", "Last one|ten"}
	if !slices.Equal(got, want) {
		t.Errorf("the steps are %q\nwant %q", got, want)
	}
	if m := c.Codelab; m.Title != "Lab" || m.IsPublic || !m.QuizEnabled || !m.RequireQuiz || m.RequireFeedback || m.GetGuideMarkdown() != "# Guide\n" {
		t.Errorf("the settings are %v", m)
	}
	// First the guide is only in its own file, then it differs from that file.
	files["codelab.json"] = fmt.Sprintf(record, "null")
	if c, left, err = readAll(pack(t, files)); err != nil || len(left) != 0 || c.Codelab.GetGuideMarkdown() != "# Guide" {
		t.Errorf("the guide is %q, %v, %v", c.Codelab.GetGuideMarkdown(), left, err)
	}
	files["codelab.json"] = fmt.Sprintf(record, `"other"`)
	if c, left, err = readAll(pack(t, files)); err != nil || len(left) != 1 || left[0].File != "preparation_guide.md" || c.Codelab.GetGuideMarkdown() != "other" {
		t.Errorf("the guide is %q, %v, %v", c.Codelab.GetGuideMarkdown(), left, err)
	}
}

func TestLeftOutPartsAreReported(t *testing.T) {
	other := strings.Replace(tutorial, "# T", "# Other", 1)
	for name, tc := range map[string]struct {
		file []byte
		want []string // file: beginning of the reason
	}{
		"nothing left out": {[]byte(tutorial), nil},
		"a file":           {[]byte(strings.Replace(tutorial, "# T\n", "# T\npreface\n", 1) + "![](img/a.png) ![](http://x/b.png)"), []string{": the text before", "img/a.png: the text shows it"}},
		"a ZIP": {
			pack(t, map[string]string{
				"lab.md": strings.Replace(tutorial, "# T\n", "# T\npreface\n", 1) + "![](a.png)\n<<part.md>>\n", "part.md": "x", "a.png": "x", "b.png": "x", "aa.md": "# no",
				"other.md": other, "more/notes.md": "notes", "more/movie.mp4": "x", ".DS_Store": "x", "__MACOSX/lab.md": "x",
			}),
			[]string{"aa.md: it is not a tutorial", "b.png: nothing refers", "lab.md: the text before", "more/movie.mp4: nothing refers", "more/notes.md: it is not part", "other.md: it is another tutorial"},
		},
		"checks and ids without effect": {
			[]byte("id: t\n\n# T\n\n## One\n<!-- id: a -->\n```check build\nIt builds\n```\n```check\nNo name\n```\n\n## Two\n<!-- id: a -->\n```check build\nAgain\n```\n```check my tests\nOf no name\n```\n"),
			[]string{`: step 1: "check" declares no check`, `: step 2: "check my tests" declares no check`, `: step 2: its id "a" is already used by step 1`, ": step 2: the check build is ignored, because step 1 already declares it"},
		},
		"too many checks": {
			[]byte("id: t\n\n# T\n\n## One\n" + func() (s string) {
				for i := range codelab.MaxChecks + 5 {
					s += fmt.Sprintf("```check c%d\nx\n```\n", i)
				}
				return s
			}()),
			[]string{": step 1: the check c50 and all later checks are ignored"},
		},
		"our own form": {
			pack(t, map[string]string{"codelab.json": `{"format":"atelier-codelab","title":"t"}`, "steps/01.md": "---\ntitle: a\n---\nx", "steps/x.md": "x", "files/materials/a": "x"}),
			[]string{"files/materials/a: nothing refers", "steps/x.md: it is not part"},
		},
	} {
		_, left, err := readAll(tc.file)
		if err != nil || left == nil {
			t.Errorf("%s: left out are %v, %v", name, left, err)
			continue
		}
		ok := len(left) >= len(tc.want)
		for i, w := range tc.want {
			ok = ok && strings.HasPrefix(left[i].File+": "+left[i].Reason, w)
		}
		if !ok || len(left) != len(tc.want) {
			t.Errorf("%s: left out %q", name, left)
		}
	}
	many := map[string]string{"lab.md": tutorial}
	for i := range 3 * MaxLeftOut {
		many[fmt.Sprintf("%d.bin", i)] = ""
	}
	if _, left, err := readAll(pack(t, many)); err != nil || len(left) != MaxLeftOut+1 || !strings.Contains(left[MaxLeftOut].Reason, "200 more") {
		t.Errorf("with many files: %d left out, %v", len(left), err)
	}
}

func TestAnArchiveWithoutACodelabIsRefused(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"another's codelab.json": {"codelab.json": `{"name":"x"}`, "readme.md": "# hello"},
		"pictures":               {"a.png": "x"},
		"nothing":                {},
	} {
		if c, _, err := readAll(pack(t, files)); !isInvalid(err) {
			t.Errorf("%s: %v, %v, want Invalid", name, c, err)
		}
	}
}

func TestReadingStopsWhenTheCallerHasLeft(t *testing.T) {
	left := errors.New("left")
	files := map[string]string{"lab.md": tutorial + "![](a.png)", "a.png": "x"}
	packed := pack(t, files)
	for after := range 8 {
		asked := 0
		still := func() error {
			if asked++; asked > after {
				return left
			}
			return nil
		}
		kept := 0
		_, err := Read(strings.NewReader(string(packed)), int64(len(packed)), Surroundings{Keep: keepNothing(&kept), Still: still})
		if asked > after && (!errors.Is(err, left) || asked != after+1) {
			t.Errorf("asked %d times whether a client waits, limit %d: %v", asked, after, err)
		}
	}
}
