package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// inputs lists the files that together contain the hash of every download.
var inputs = []string{"go.sum", app + "/package-lock.json", ".release/go.sum"}

// provenance is the content of provenance.json: the sources and the tools of the artifacts.
type provenance struct {
	Version  string   `json:"version"`
	Commit   string   `json:"commit"`
	Modified bool     `json:"modified"` // whether there were changes that are not in the commit
	Date     string   `json:"date"`     // time of the commit
	Go       string   `json:"go"`
	Node     string   `json:"node"`
	Flags    []string `json:"flags"`    // flags of go build
	Settings []string `json:"settings"` // environment variables of go build
	Inputs   []input  `json:"inputs"`
}

type input struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

func (r *release) provenance() error {
	p := provenance{Version: r.version, Commit: r.commit, Modified: r.modified, Date: r.date.Format("2006-01-02T15:04:05Z"),
		Go: r.goVersion, Flags: r.flags(), Settings: settings}
	// Node can be missing, because the tree can contain an app that was built on another machine.
	p.Node, _ = output(r.root, "node", "--version")
	for _, path := range inputs {
		sum, err := hash(filepath.Join(r.root, path))
		if err != nil {
			return err
		}
		p.Inputs = append(p.Inputs, input{path, sum})
	}
	return r.create("provenance.json", func(w io.Writer) error { return indented(w, p) })
}

func indented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// hash returns the SHA-256 of a file, in hexadecimal digits.
func hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// sums writes the checksums of all artifacts, in the format of sha256sum --check.
func (r *release) sums() error {
	entries, err := os.ReadDir(r.into) // sorted by name
	if err != nil {
		return err
	}
	return r.create("SHA256SUMS", func(w io.Writer) error {
		for _, e := range entries {
			sum, err := hash(r.artifact(e.Name()))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%s  %s\n", sum, e.Name()); err != nil {
				return err
			}
		}
		return nil
	})
}
