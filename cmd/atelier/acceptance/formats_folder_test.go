package acceptance

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// sizeRecord is the key of the header record with a file's full size. The zeros at the file's end
// are not packed, because a running store has files of a gigabyte that are mostly holes.
const sizeRecord = "ATELIER.size"

// pack packs a data folder. If a server uses the folder, the result is like a folder after a crash.
func pack(t *testing.T, folder, to string) {
	t.Helper()
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	zw, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	tw := tar.NewWriter(zw)
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, size, err := withoutTail(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		h := &tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(b))}
		if size > len(b) {
			h.PAXRecords = map[string]string{sizeRecord: strconv.Itoa(size)}
		}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		_, err = tw.Write(b)
		return err
	})
	if err = errors.Join(err, tw.Close(), zw.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// withoutTail reads a file without the zeros at its end. It also returns the full size.
func withoutTail(path string) (content []byte, size int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	for chunk := make([]byte, 1<<20); ; {
		n, err := io.ReadFull(f, chunk)
		if some := bytes.TrimRight(chunk[:n], "\x00"); len(some) > 0 {
			content = append(append(content, make([]byte, size-len(content))...), some...)
		}
		size += n
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return content, size, nil
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

func unpack(t *testing.T, from, folder string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, filepath.FromSlash(h.Name))
		b, err := io.ReadAll(tr)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, b, 0o600)
		}
		if size, bad := strconv.ParseInt(h.PAXRecords[sizeRecord], 10, 64); err == nil && bad == nil {
			err = os.Truncate(path, size)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
