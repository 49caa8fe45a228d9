// Package sample is the sample workshop in the binary: a small tutorial with every kind of block, a
// quiz, polls and code.
package sample

import (
	"archive/zip"
	"bytes"
	"embed"
	"io/fs"
	"path"

	"atelier/actors/code"
)

//go:embed workshop code
var content embed.FS

// ZIP returns the workshop as an exported codelab, which package archive reads.
func ZIP() ([]byte, error) {
	folder, err := fs.Sub(content, "workshop")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	if err := w.AddFS(folder); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// State is the workshop's code on a branch.
type State struct {
	Branch string
	Files  []code.File
}

// Code returns the states of the workshop's code, in the order of the steps. A step can begin where
// the previous one ended; then both branches have the same files.
func Code() ([]State, error) {
	var out []State
	for _, pair := range [][2]string{
		{"step-1-start", "step-1-start"}, {"step-1-end", "step-1-end"}, {"step-2-start", "step-1-end"}, {"step-2-end", "step-2-end"},
		{"step-3-start", "step-2-end"}, {"step-3-end", "step-3-end"}, {"step-4-start", "step-3-end"}, {"step-4-end", "step-4-end"},
	} {
		folder := path.Join("code", pair[1])
		entries, err := content.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		s := State{Branch: pair[0]}
		for _, e := range entries {
			b, err := content.ReadFile(path.Join(folder, e.Name()))
			if err != nil {
				return nil, err
			}
			s.Files = append(s.Files, code.File{Path: e.Name(), Content: b})
		}
		out = append(out, s)
	}
	return out, nil
}
