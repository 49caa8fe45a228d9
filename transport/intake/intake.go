package intake

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/files"
	"atelier/transport/wire"
)

// File size limits, in bytes (transport/rest/RULES.md, "Limits").
const (
	MaxImage    = 5 << 20
	MaxMaterial = 50 << 20
)

// tolerance is the maximum number of bytes by which an image grows when its metadata is replaced.
const tolerance = 1 << 10

// Image stores an image of at most MaxImage bytes without its metadata. If the image is refused or
// malformed, the error is an Invalid rejection. An error of Check is joined to the rejection.
func Image(blobs files.Blobs, r io.Reader) (*files.Lease, Kind, error) {
	f, size, err := blobs.Spool(r, MaxImage)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	in := &spooled{ReaderAt: f}
	kind, err := Check(in, size)
	switch {
	case in.failed != nil:
		return nil, 0, in.failed
	case err != nil:
		return nil, 0, errors.Join(wire.Invalid("%v", err), err)
	}
	clean, done := Stripped(kind, in, size)
	lease, err := blobs.Put(clean, MaxImage+tolerance)
	switch broken := done(); {
	case in.failed != nil:
		return nil, 0, in.failed
	case broken != nil:
		return nil, 0, wire.Invalid("%v", broken)
	}
	return lease, kind, err
}

// spooled is an upload on the server's disk. It keeps the error of a failed read, which is a fault
// of the server and not of the upload.
type spooled struct {
	io.ReaderAt
	failed error
}

func (s *spooled) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.ReaderAt.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		s.failed = fmt.Errorf("read an upload: %w", err)
	}
	return n, err
}

// File stores a file of at most limit bytes unchanged, and returns its detected type. An empty file
// is refused.
func File(blobs files.Blobs, r io.Reader, limit int64) (lease *files.Lease, mediaType string, err error) {
	in := bufio.NewReader(r)
	head, err := in.Peek(512)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, "", errors.Join(files.ErrSource, err)
	case len(head) == 0:
		return nil, "", wire.Invalid("file is empty")
	}
	mediaType = http.DetectContentType(head)
	lease, err = blobs.Put(in, limit)
	return lease, mediaType, err
}

// Material stores a file of at most MaxMaterial bytes. If the file is an image, its metadata is
// removed as from any image, so that a photo of the room does not reveal where it was taken. An
// image with too many pixels gets the media type application/octet-stream, which is never displayed.
// So does a malformed image, which is stored unchanged.
func Material(blobs files.Blobs, r io.Reader) (lease *files.Lease, mediaType string, err error) {
	f, size, err := blobs.Spool(r, MaxMaterial)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	in := &spooled{ReaderAt: f}
	kind, wrong := Check(in, size)
	if wrong == nil || errors.Is(wrong, ErrDimensions) {
		mediaType = kind.MediaType()
		if wrong != nil {
			mediaType = "application/octet-stream"
		}
		clean, done := Stripped(kind, in, size)
		lease, err = blobs.Put(clean, MaxMaterial+tolerance)
		if done() == nil {
			return lease, mediaType, err
		}
		if err == nil {
			lease.Release()
		}
	}
	if in.failed != nil {
		return nil, "", in.failed
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, "", err
	}
	lease, mediaType, err = File(blobs, f, MaxMaterial)
	if Shown(mediaType) {
		mediaType = "application/octet-stream"
	}
	return lease, mediaType, err
}

// Upload returns the upload record of a stored object. kind is a kind of upload of package files,
// extension the extension of the new name. original is the original file name, or "" to omit it.
func Upload(lease *files.Lease, kind, extension, mediaType, original string, now time.Time) *pb.Upload {
	return &pb.Upload{
		Name: files.NewName(kind, extension), Sum: lease.Sum[:], Size: lease.Size, MediaType: mediaType,
		OriginalName: original, CreatedAt: now.UnixMilli(),
	}
}
