package archive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

// This file reads the layout of the reference application. There, codelab.json is the application's
// record, without a format. The steps are step_NN_<title>.md in the same folder. The guide is in
// the record and also in preparation_guide.md.

// yes is a boolean, which the reference application also writes as 0 or 1.
type yes bool

func (y *yes) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, []byte("null")):
	case bytes.Equal(b, []byte("1")):
		*y = true
	case bytes.Equal(b, []byte("0")):
		*y = false
	default:
		return json.Unmarshal(b, (*bool)(y))
	}
	return nil
}

const referenceGuide = "preparation_guide.md"

var referenceStep = regexp.MustCompile(`^step_(\d{1,6})(?:_(.*))?\.md$`)

// referenceStepNames returns the names of the steps' files, in the order of their numbers.
func (t *tree) referenceStepNames() []string {
	number := map[string]int{}
	var names []string
	for name := range t.files {
		if m := referenceStep.FindStringSubmatch(name); m != nil {
			number[name], _ = strconv.Atoi(m[1])
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if number[a] != number[b] {
			return number[a] - number[b]
		}
		return strings.Compare(a, b)
	})
	return names
}

// referenceSteps reads the steps and the guide in the reference application's layout.
func (t *tree) referenceSteps(c *codelab.Create, d *document) error {
	names := t.referenceStepNames()
	if err := checkSteps(names); err != nil {
		return err
	}
	for i, name := range names {
		b, err := t.readUpTo(name, largestStep)
		if err != nil {
			return err
		}
		c.Steps = append(c.Steps, &pb.Step{Title: referenceTitle(name, b, i+1), ContentMarkdown: string(b)})
	}
	c.Codelab.GuideMarkdown = d.GuideMarkdown
	if t.files[referenceGuide] == nil {
		return nil
	}
	b, err := t.read(referenceGuide)
	if err != nil {
		return err
	}
	guide := string(b)
	switch {
	case d.GuideMarkdown == nil || strings.TrimSpace(*d.GuideMarkdown) == "":
		c.Codelab.GuideMarkdown = &guide
	case strings.TrimSpace(guide) != strings.TrimSpace(*d.GuideMarkdown):
		t.left.add(referenceGuide, "codelab.json contains another guide, which was imported instead", CodeUnknown)
	}
	return nil
}

// referenceTitle returns the title of a step. The file name contains only the title's ASCII
// letters, or "step" if the title has none. In the latter case the first line is the title if it is
// a heading, and otherwise "Step" with the number.
func referenceTitle(name string, content []byte, number int) string {
	title := strings.TrimSpace(strings.ReplaceAll(referenceStep.FindStringSubmatch(name)[2], "_", " "))
	if title != "" && title != "step" {
		return title
	}
	first, _, _ := bytes.Cut(bytes.TrimSpace(content), []byte("\n"))
	if text := bytes.TrimLeft(first, "#"); len(text) < len(first) && len(first) < 1000 {
		if heading := strings.TrimSpace(string(text)); heading != "" {
			return heading
		}
	}
	return fmt.Sprintf("Step %d", number)
}
