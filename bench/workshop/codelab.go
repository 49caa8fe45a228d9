//go:build linux

package workshop

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf16"

	"atelier/bench/api"
)

// ownSteps is the number of steps of the run's own codelab.
const ownSteps = 8

// prepare returns the run's codelab, with its steps. Unless the codelab exists, prepare imports or
// creates it.
func prepare(client *api.Client, admin api.Session, cfg *Config) (*api.Codelab, error) {
	id := cfg.CodelabID
	switch {
	case id != "":
	case cfg.Codelab != "":
		text, err := os.ReadFile(cfg.Codelab)
		if err != nil {
			return nil, fmt.Errorf("codelab: %w", err)
		}
		lab, err := client.Import(admin, "codelab.md", text)
		if err != nil {
			return nil, err
		}
		id = lab.ID
	default:
		lab, err := client.Create(admin, "A workshop under load", smallCodelab())
		if err != nil {
			return nil, err
		}
		id = lab.ID
	}
	lab, err := client.GetCodelab(admin, id)
	if err != nil {
		return nil, err
	}
	if len(lab.Steps) == 0 {
		return nil, errors.New("the codelab has no steps")
	}
	return lab, nil
}

// smallCodelab returns titles and contents of steps, with enough text for comments.
func smallCodelab() [][2]string {
	steps := make([][2]string, ownSteps)
	for i := range steps {
		steps[i] = [2]string{
			fmt.Sprintf("Step %d", i+1),
			fmt.Sprintf("## What to do in step %d\n\n%s", i+1, strings.Repeat("Read this, try it, and ask when you are stuck. ", 40)),
		}
	}
	return steps
}

// contentHash is the hash that the browser app sends with a comment. It is the 32-bit FNV-1a hash
// over the UTF-16 code units of the Markdown, in hex.
func contentHash(markdown string) string {
	h := uint32(0x811c9dc5)
	for _, unit := range utf16.Encode([]rune(markdown)) {
		h = (h ^ uint32(unit)) * 0x01000193
	}
	return fmt.Sprintf("%x", h)
}
