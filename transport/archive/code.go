package archive

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"atelier/actors/code"
)

// MaxPackedCode bounds a code archive, in bytes.
const MaxPackedCode = code.MaxTree

// maxTarOverhead bounds a tar's size in addition to its files' content, in bytes. It covers the
// headers and padding of maxEntries entries, and some long names.
const maxTarOverhead = maxEntries*1024 + 16<<20

// ReadCode reads the files of a ZIP or tar.gz for a workspace. It returns all files, except those
// that an operating system added, or an error. It does not trust sizes in the archive. An Invalid
// rejection states why the archive cannot be unpacked. Other errors come from still, or from
// reading the first bytes. ReadCode calls still before each file; still returns an error if the
// caller has stopped waiting. The store, not ReadCode, refuses names that differ only in case or
// Unicode form.
func ReadCode(r io.ReaderAt, size int64, still func() error) ([]code.File, error) {
	var magic [2]byte
	if _, err := r.ReadAt(magic[:], 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	c := &codeReader{room: code.MaxTree, still: still}
	var err error
	switch string(magic[:]) {
	case "PK":
		err = c.zip(r, size)
	case "\x1f\x8b":
		err = c.tarGzip(io.NewSectionReader(r, 0, size))
	default:
		err = invalid("the file is neither a ZIP nor a tar.gz")
	}
	if err == nil && len(c.files) == 0 {
		err = invalid("the archive has no files")
	}
	if err != nil {
		return nil, err
	}
	return c.files, nil
}

// codeReader collects the files of an archive.
type codeReader struct {
	files []code.File
	room  int64 // remaining bytes of code.MaxTree
	still func() error
}

// path checks the name of an entry and returns its path, for folders without the slash at the end.
// wanted is false for the root folder and for files that an operating system added.
func (c *codeReader) path(name string) (path string, wanted bool, err error) {
	path = strings.TrimSuffix(name, "/")
	for strings.HasPrefix(path, "./") { // "tar -C folder ." writes such names
		path = path[len("./"):]
	}
	if path == "." || path == "" && name == "./" {
		return "", false, nil
	}
	if err := code.CheckNewPath(path); err != nil {
		return "", false, invalid("entry %.200q of the archive: %v", name, err)
	}
	return path, !isNoise(path), nil
}

// add reads the content of a file and adds the file to c.files.
func (c *codeReader) add(path string, mode code.Mode, content io.Reader) error {
	if len(c.files) == code.MaxFiles {
		return invalid("the archive has more than %d files", code.MaxFiles)
	}
	if err := c.still(); err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(content, min(code.MaxFile, c.room)+1))
	switch {
	case err != nil:
		return invalid("%s cannot be unpacked", path)
	case len(b) > code.MaxFile:
		return invalid("%s is larger than %d MiB", path, code.MaxFile>>20)
	case int64(len(b)) > c.room:
		return invalid("the archive unpacks to more than %d MiB", code.MaxTree>>20)
	}
	c.room -= int64(len(b))
	c.files = append(c.files, code.File{Path: path, Content: b, Mode: mode})
	return nil
}

func (c *codeReader) zip(r io.ReaderAt, size int64) error {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return invalid("the file is not a readable ZIP")
	}
	if len(z.File) > maxEntries {
		return invalid("the archive has more than %d entries", maxEntries)
	}
	for _, f := range z.File {
		name, _ := entryName(f)
		path, wanted, err := c.path(name)
		if err != nil {
			return err
		}
		switch mode := f.Mode(); {
		case mode.IsDir() || strings.HasSuffix(name, "/"):
			if f.UncompressedSize64 > 0 {
				return invalid("%s is a folder with content", path)
			}
			continue
		case path == "":
			return invalid("the archive has a file without a name")
		case !mode.IsRegular():
			return invalid("%s is not a regular file", path)
		case f.Flags&encrypted != 0:
			return invalid("%s is encrypted", path)
		case !wanted:
			continue
		}
		if err := c.zipFile(path, f); err != nil {
			return err
		}
	}
	return nil
}

// encrypted is the flag of password-protected entries.
const encrypted = 1

func (c *codeReader) zipFile(path string, f *zip.File) error {
	content, err := f.Open()
	if err != nil {
		return invalid("%s cannot be unpacked", path)
	}
	defer content.Close()
	return c.add(path, zipMode(f), content)
}

// zipMode returns an entry's mode. Windows programs write no mode; code.KeptMode then keeps the
// mode of an existing file.
func zipMode(f *zip.File) code.Mode {
	if made := f.CreatorVersion >> 8; made != madeByUnix && made != madeByMacOS {
		return code.KeptMode
	}
	return modeOf(f.Mode())
}

func modeOf(m fs.FileMode) code.Mode {
	if m&0o111 != 0 {
		return code.Executable
	}
	return code.Regular
}

// errTarTooLarge is the error for a tar.gz that unpacks to more than the limit.
var errTarTooLarge = errors.New("the archive unpacks to more than the limit")

// bounded returns errTarTooLarge once it has read left bytes, even if r has no further bytes.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTarTooLarge
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func (c *codeReader) tarGzip(r io.Reader) error {
	z, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return invalid("the file is not a readable tar.gz")
	}
	unpacked := &bounded{z, code.MaxTree + maxTarOverhead}
	t := tar.NewReader(unpacked)
	for n := 0; ; n++ {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return brokenTar(err)
		}
		if n == maxEntries {
			return invalid("the archive has more than %d entries", maxEntries)
		}
		if err := c.tarEntry(t, h); err != nil {
			return err
		}
	}
	// Read to the end of the gzip stream, because its checksum follows the end of the tar.
	if _, err := io.Copy(io.Discard, unpacked); err != nil {
		return brokenTar(err)
	}
	return nil
}

func brokenTar(err error) error {
	if errors.Is(err, errTarTooLarge) {
		return invalid("the archive unpacks to more than %d MiB", code.MaxTree>>20)
	}
	return invalid("the file is not a readable tar.gz, or it broke off")
}

func (c *codeReader) tarEntry(t *tar.Reader, h *tar.Header) error {
	if h.Typeflag == tar.TypeXGlobalHeader { // "git archive" writes one
		return nil
	}
	path, wanted, err := c.path(h.Name)
	switch {
	case err != nil:
		return err
	case h.Typeflag == tar.TypeDir:
		return nil
	case h.Typeflag != tar.TypeReg:
		return invalid("%s is not a regular file", path)
	case path == "":
		return invalid("the archive has a file without a name")
	case !wanted:
		return nil
	}
	return c.add(path, modeOf(h.FileInfo().Mode()), t)
}
