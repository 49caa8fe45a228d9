package intake

import (
	"bufio"
	"errors"
	"fmt"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
)

// Kind is a kind of image that browsers show.
type Kind uint8

// The kinds, decided by content.
const (
	PNG Kind = iota + 1
	JPEG
	GIF
	WebP
)

var kinds = []struct {
	kind                 Kind
	mediaType, extension string
}{
	{PNG, "image/png", "png"}, {JPEG, "image/jpeg", "jpg"}, {GIF, "image/gif", "gif"}, {WebP, "image/webp", "webp"},
}

// MediaType is the kind's type on the wire.
func (k Kind) MediaType() string { return kinds[k-PNG].mediaType }

// Extension returns the end of the names of files of this kind.
func (k Kind) Extension() string { return kinds[k-PNG].extension }

// Shown reports whether a media type is one of the kinds: nothing else may be shown
// in place.
func Shown(mediaType string) bool {
	for _, k := range kinds {
		if k.mediaType == mediaType {
			return true
		}
	}
	return false
}

const (
	// maxSide bounds width and height: what browsers can show.
	maxSide = 16_384
	// maxPixels bounds the picture: a browser takes four bytes for each, and a page
	// may show many. The largest pictures of phones in use have fewer.
	maxPixels = 40_000_000
)

var (
	errNoImage   = errors.New("the file is no PNG, JPEG, GIF or WebP image")
	errMalformed = errors.New("the image is malformed or cut off")
)

// ErrDimensions means that an image has more pixels than are taken.
var ErrDimensions = errors.New("intake: too many pixels")

// dimensionsError is an ErrDimensions in words for the person who sent the image.
type dimensionsError string

func (e dimensionsError) Error() string        { return string(e) }
func (e dimensionsError) Is(target error) bool { return target == ErrDimensions }

// Check tells the kind of an image by its content and looks at its size. Its
// errors are meant for the person who sent it.
func Check(r io.ReaderAt, size int64) (Kind, error) {
	head := make([]byte, min(size, 512))
	if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
		return 0, fmt.Errorf("read image: %w", err)
	}
	sniffed := http.DetectContentType(head)
	for _, k := range kinds {
		if k.mediaType != sniffed {
			continue
		}
		width, height, err := dimensions(k.kind, r, size)
		if err != nil {
			return 0, errMalformed
		}
		if width < 1 || height < 1 || width > maxSide || height > maxSide {
			return 0, dimensionsError(fmt.Sprintf("the image must be 1 to %d pixels wide and high", maxSide))
		}
		if width*height > maxPixels {
			return 0, dimensionsError(fmt.Sprintf("the image has more than %d megapixels; make it smaller", maxPixels/1_000_000))
		}
		return k.kind, nil
	}
	return 0, errNoImage
}

func dimensions(k Kind, r io.ReaderAt, size int64) (width, height int, err error) {
	in := bufio.NewReader(io.NewSectionReader(r, 0, size))
	switch k {
	case PNG:
		c, err := png.DecodeConfig(in)
		return c.Width, c.Height, err
	case JPEG:
		c, err := jpeg.DecodeConfig(in)
		return c.Width, c.Height, err
	case GIF:
		c, err := gif.DecodeConfig(in)
		return c.Width, c.Height, err
	}
	return webpDimensions(r, size)
}

// Strip writes an image to w without what does not belong to the picture. An error means that the
// structure is broken, or is the writer's.
func Strip(k Kind, r io.ReaderAt, size int64, w io.Writer) error {
	out := bufio.NewWriterSize(w, 32<<10)
	in := bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 32<<10)
	var err error
	switch k {
	case PNG:
		err = stripPNG(in, out)
	case JPEG:
		err = stripJPEG(in, out)
	case GIF:
		err = stripGIF(in, out)
	default:
		err = stripWebP(r, size, out)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errMalformed
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// Stripped is Strip as a reader. done must be called when the reader is read
// no more; it says what is wrong with the image, if anything.
func Stripped(k Kind, r io.ReaderAt, size int64) (clean io.Reader, done func() error) {
	pr, pw := io.Pipe()
	result := make(chan error, 1)
	go func() {
		err := Strip(k, r, size, pw)
		_ = pw.CloseWithError(err)
		result <- err
	}()
	return pr, func() error {
		_ = pr.Close()
		if err := <-result; !errors.Is(err, io.ErrClosedPipe) {
			return err
		}
		return nil // its reader stopped before the end
	}
}

// copyBytes copies exactly n bytes.
func copyBytes(w io.Writer, r io.Reader, n int64) error {
	_, err := io.CopyN(w, r, n)
	return err
}
