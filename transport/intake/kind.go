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

// Kind is a type of image that browsers show.
type Kind uint8

// Kinds, detected by content.
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

// MediaType returns the media type.
func (k Kind) MediaType() string { return kinds[k-PNG].mediaType }

// Extension returns the file name extension for the kind.
func (k Kind) Extension() string { return kinds[k-PNG].extension }

// Shown reports whether a media type is one of the kinds. Files of other types are never displayed
// inline.
func Shown(mediaType string) bool {
	for _, k := range kinds {
		if k.mediaType == mediaType {
			return true
		}
	}
	return false
}

const (
	// maxSide bounds width and height to the limit of browsers.
	maxSide = 16_384
	// maxPixels bounds the pixels, because a browser needs four bytes per pixel and a page can have
	// many images. The largest photos of common phones have fewer.
	maxPixels = 40_000_000
)

var (
	errNoImage   = errors.New("the file is not a PNG, JPEG, GIF or WebP image")
	errMalformed = errors.New("the image is malformed or cut off")
)

// ErrDimensions means that the width, height or number of pixels of an image is not permitted.
var ErrDimensions = errors.New("intake: too many pixels")

// dimensionsError wraps ErrDimensions with a text for the sender.
type dimensionsError string

func (e dimensionsError) Error() string        { return string(e) }
func (e dimensionsError) Is(target error) bool { return target == ErrDimensions }

// Check detects the kind of an image from its content and checks its dimensions. Its errors are for
// the person who sent the image, except an error of r. With ErrDimensions it also returns the kind.
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
			return k.kind, dimensionsError(fmt.Sprintf("the image must be 1 to %d pixels wide and high", maxSide))
		}
		if width*height > maxPixels {
			return k.kind, dimensionsError(fmt.Sprintf("the image has more than %d megapixels; make it smaller", maxPixels/1_000_000))
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

// Strip writes an image without its metadata to w. It returns an error if the image is malformed, or
// an error of r or w.
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

// Stripped returns the result of Strip as a reader. The function done must be called after reading,
// and ends the goroutine of Strip. It returns the error of Strip, or nil if reading stopped early.
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
		return nil // reading stopped early
	}
}

// copyBytes copies exactly n bytes.
func copyBytes(w io.Writer, r io.Reader, n int64) error {
	_, err := io.CopyN(w, r, n)
	return err
}
