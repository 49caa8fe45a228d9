package powercut

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier/persistence/powercut"
)

// verdict is the result of a server's start after a cut.
type verdict struct {
	cut     powercut.Cut
	folder  *powercut.Folder
	checked int    // number of items
	refused string // why the server did not start; "" if it started
	wrong   []string
	logEnd  string // the end of the server's log, if something is wrong
}

// tryCut starts the server on the folder that remains after a cut, in a folder below scratch, and
// verifies the server's data. If the server refuses to start, its error must mention the recovery
// flag. With this flag, it must recover everything acknowledged except tokens.
func tryCut(p *program, t powercut.Trace, cut powercut.Cut, scratch string) (v verdict, err error) {
	v = verdict{cut: cut, folder: t.Rebuild(cut)}
	e, err := expect(t, cut.Point, v.folder.Reach)
	if err != nil {
		return v, err
	}
	v.checked = len(e.there) + len(e.gone)
	root, err := os.MkdirTemp(scratch, "cut-")
	if err != nil {
		return v, err
	}
	defer os.RemoveAll(root)
	root = filepath.Join(root, "disk")
	if err := v.folder.Make(root); err != nil {
		return v, fmt.Errorf("make the folder after the cut: %w", err)
	}
	s, err := p.start(dataIn(root))
	if isRefusal(err) {
		v.refused = err.Error()
		if !strings.Contains(v.refused, recoverFlag) {
			v.wrong = append(v.wrong, "the refusal does not name "+recoverFlag)
			return v, nil
		}
		e.there = slices.DeleteFunc(e.there, func(it item) bool { return it.Kind == "token" })
		if s, err = p.start(dataIn(root), recoverFlag); isRefusal(err) {
			v.wrong = append(v.wrong, "with "+recoverFlag+" too, "+err.Error())
			return v, nil
		}
	}
	if err != nil {
		return v, err
	}
	defer s.kill()
	v.wrong = append(v.wrong, newView(s).check(e)...)
	if len(v.wrong) > 0 {
		s.kill()
		v.logEnd = lastLines(s.output.String())
	}
	return v, nil
}

// recoverFlag is the flag that a refusal must mention.
const recoverFlag = "--recover-damaged"

// story summarizes the unsynced writes, their fate, and the findings.
func (v verdict) story() string {
	var b strings.Builder
	fmt.Fprintf(&b, "power cut at call %d, seed %d, names %s: repeat with make powercut POINT=%d SEED=%d\n", v.cut.Point, v.cut.Seed, v.cut.Order, v.cut.Point, v.cut.Seed)
	lines := v.folder.Unsynced
	if more := len(lines) - 30; more > 0 {
		fmt.Fprintf(&b, "  %d earlier unsynced changes\n", more)
		lines = lines[more:]
	}
	for _, line := range lines {
		fmt.Fprintf(&b, "  unsynced: %s\n", line)
	}
	if v.refused != "" {
		fmt.Fprintf(&b, "  the server refuses to start: %s\n", v.refused)
	}
	for _, w := range v.wrong[:min(10, len(v.wrong))] {
		fmt.Fprintf(&b, "  found: %s\n", w)
	}
	if more := len(v.wrong) - 10; more > 0 {
		fmt.Fprintf(&b, "  found: %d more\n", more)
	}
	if v.logEnd != "" {
		fmt.Fprintf(&b, "  the server's log ends with:\n%s\n", v.logEnd)
	}
	return b.String()
}
