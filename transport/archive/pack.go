package archive

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Pack writes a ZIP, or one folder in a ZIP. It is not safe for concurrent use.
type Pack struct {
	zip    *zip.Writer
	folder string // "" or ends with a slash
	at     time.Time
}

// NewPack returns an empty ZIP. at is the modification time of all files except uploads, which have
// their own. Close completes the ZIP.
func NewPack(w io.Writer, at time.Time) *Pack { return &Pack{zip: zip.NewWriter(w), at: at} }

// Folder returns a Pack that writes into a folder of the same ZIP.
func (p *Pack) Folder(name string) *Pack {
	return &Pack{zip: p.zip, folder: p.folder + name + "/", at: p.at}
}

// Close completes the whole ZIP, also if p is a folder in it.
func (p *Pack) Close() error { return p.zip.Close() }

// JSON adds a value as an indented JSON file.
func (p *Pack) JSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return p.Add(name, append(b, '\n'))
}

// Add adds a file.
func (p *Pack) Add(name string, content []byte) error {
	w, err := p.Create(name)
	if err == nil {
		_, err = w.Write(content)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Create begins a file. The file ends when the next file begins or the ZIP is closed.
func (p *Pack) Create(name string) (io.Writer, error) {
	return p.zip.CreateHeader(&zip.FileHeader{Name: p.folder + name, Method: zip.Deflate, Modified: p.at})
}

// store adds a file uncompressed. Most of these files are already compressed, and compressing them
// again would take CPU time from a live workshop. at is its upload time in Unix milliseconds.
func (p *Pack) store(name string, at int64, content io.Reader) error {
	w, err := p.zip.CreateHeader(&zip.FileHeader{Name: p.folder + name, Method: zip.Store, Modified: time.UnixMilli(at)})
	if err == nil {
		_, err = io.Copy(w, content)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
