package intake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/persistence/objects/contents"
)

func store(t *testing.T) *contents.Store {
	t.Helper()
	b, err := contents.Open(contents.Options{Dir: t.TempDir(), Grace: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// picture returns a PNG with a text in its metadata.
func picture(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	chunk := append([]byte{0, 0, 0, byte(len(text))}, "tEXt"+text...)
	chunk = append(chunk, 0, 0, 0, 0) // the checksum is not verified
	at := 8 + 25                      // after the signature and the header
	return append(append(append([]byte{}, b.Bytes()[:at]...), chunk...), b.Bytes()[at:]...)
}

func kept(t *testing.T, b *contents.Store, l *files.Lease) string {
	t.Helper()
	f, _, err := b.Open(l.Sum)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestAnImageLosesItsMetadata(t *testing.T) {
	b := store(t)
	sent := picture(t, "where it was taken")
	l, kind, err := Image(b, bytes.NewReader(sent))
	if err != nil || kind.MediaType() != "image/png" {
		t.Fatalf("Image returned %v, %v, want image/png", kind, err)
	}
	defer l.Release()
	if got := kept(t, b, l); strings.Contains(got, "taken") || !strings.HasPrefix(got, "\x89PNG") {
		t.Errorf("the stored image is %q", got)
	}
	l, media, err := Material(b, bytes.NewReader(sent))
	if err != nil || media != "image/png" {
		t.Fatalf("Material returned %q, %v, want image/png", media, err)
	}
	defer l.Release()
	if got := kept(t, b, l); strings.Contains(got, "taken") {
		t.Errorf("the stored material is %q", got)
	}
}

// Browsers do not show an image with too many pixels, but people can download and open it.
func TestAHugeImageLosesItsMetadata(t *testing.T) {
	b := store(t)
	sent := picture(t, "where it was taken")
	binary.BigEndian.PutUint32(sent[16:], 8000) // width
	binary.BigEndian.PutUint32(sent[20:], 6000) // height
	binary.BigEndian.PutUint32(sent[29:], crc32.ChecksumIEEE(sent[12:29]))
	if _, err := Check(bytes.NewReader(sent), int64(len(sent))); !errors.Is(err, ErrDimensions) {
		t.Fatalf("Check returned %v, want ErrDimensions", err)
	}
	l, media, err := Material(b, bytes.NewReader(sent))
	if err != nil || Shown(media) {
		t.Fatalf("Material returned %q, %v", media, err)
	}
	defer l.Release()
	if got := kept(t, b, l); strings.Contains(got, "taken") || !strings.HasPrefix(got, "\x89PNG") {
		t.Errorf("the stored material is %q", got)
	}
}

func TestInvalidImagesAreNeverShown(t *testing.T) {
	b := store(t)
	var refused *durable.Rejection
	for _, content := range []string{"", "GIF89a but no more", "<svg onload=alert(1)>", "\x89PNG\r\n\x1a\nnothing"} {
		if _, _, err := Image(b, strings.NewReader(content)); !errors.As(err, &refused) {
			t.Errorf("Image(%q) returned %v, want a rejection", content, err)
		}
	}
	for content, want := range map[string]string{
		"\x89PNG\r\n\x1a\nnothing": "application/octet-stream", "GIF89a but no more": "application/octet-stream", "%PDF-1.7": "application/pdf", "words": "text/plain; charset=utf-8",
	} {
		l, media, err := Material(b, strings.NewReader(content))
		if err != nil || media != want || kept(t, b, l) != content {
			t.Errorf("the material %q has the type %s, %v", content, media, err)
			continue
		}
		l.Release()
	}
	if _, _, err := Material(b, strings.NewReader("")); !errors.As(err, &refused) {
		t.Errorf("an empty material returned %v, want a rejection", err)
	}
}

func TestABrokenUploadLeavesNoContent(t *testing.T) {
	b := store(t)
	broken := errors.New("the line is dead")
	for _, take := range []func(io.Reader) error{
		func(r io.Reader) error { _, _, err := Image(b, r); return err },
		func(r io.Reader) error { _, _, err := Material(b, r); return err },
		func(r io.Reader) error { _, _, err := File(b, r, 100); return err },
	} {
		if err := take(io.MultiReader(strings.NewReader("some"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
			t.Errorf("reading a broken upload returned %v, want the error of the reader", err)
		}
	}
	if _, _, err := File(b, strings.NewReader(strings.Repeat("x", 101)), 100); err == nil {
		t.Error("a file over the limit was accepted")
	}
	if n, err := b.Scrub(func(string) {}); n != 0 || err != nil {
		t.Errorf("%d objects are left, %v, want none", n, err)
	}
}

// failing is a store whose spooled files cannot be read, as on a disk that fails.
type failing struct{ *contents.Store }

func (f failing) Spool(r io.Reader, limit int64) (*os.File, int64, error) {
	spool, size, err := f.Store.Spool(r, limit)
	if err == nil {
		_ = spool.Close()
	}
	return spool, size, err
}

func TestAFaultOfTheDiskIsNotAFaultOfTheUpload(t *testing.T) {
	blobs, photo := failing{store(t)}, picture(t, "x")
	_, _, image := Image(blobs, bytes.NewReader(photo))
	_, _, material := Material(blobs, bytes.NewReader(photo))
	for what, err := range map[string]error{"image": image, "material": material} {
		var rejected *durable.Rejection
		if err == nil || errors.As(err, &rejected) {
			t.Errorf("%s: %v, want an error of the server", what, err)
		}
	}
}
