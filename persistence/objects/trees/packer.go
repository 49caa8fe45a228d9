package trees

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"time"

	"atelier/actors/code"
)

// packer writes a tar.gz archive. All files have the date At.
type packer struct {
	zip *gzip.Writer
	tar *tar.Writer
	At  time.Time
}

// zipPacker writes a ZIP archive. All files have the date At.
type zipPacker struct {
	zip *zip.Writer
	At  time.Time
}

// File writes a file.
func (p *zipPacker) File(name string, content []byte, mode code.Mode) error {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: p.At.UTC()}
	h.SetMode(0o644)
	if mode == code.Executable {
		h.SetMode(0o755)
	}
	w, err := p.zip.CreateHeader(h)
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}

// Close completes the archive.
func (p *zipPacker) Close() error { return p.zip.Close() }

// newPacker returns a packer that writes to w.
func newPacker(w io.Writer, at time.Time) *packer {
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
	return &packer{z, tar.NewWriter(z), at.Truncate(time.Second)}
}

// Folder writes a folder.
func (p *packer) Folder(name string) error {
	return p.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, ModTime: p.At})
}

// File writes a file.
func (p *packer) File(name string, content []byte, mode code.Mode) error {
	permissions := int64(0o644)
	if mode == code.Executable {
		permissions = 0o755
	}
	if err := p.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: permissions, Size: int64(len(content)), ModTime: p.At}); err != nil {
		return err
	}
	_, err := p.tar.Write(content)
	return err
}

// Close completes the archive.
func (p *packer) Close() error { return errors.Join(p.tar.Close(), p.zip.Close()) }
