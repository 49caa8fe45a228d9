package intake

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secrets are the metadata in the files of these tests.
var secrets = []string{"GPS-52.5200N", "secret comment", "secret maker", "xpacket", "trailing video", "Photoshop"}

// exif returns a TIFF block with an orientation, a maker, and a place.
func exif(orientation uint16) []byte {
	b := []byte("II*\x00\x08\x00\x00\x00")
	le := binary.LittleEndian
	b = le.AppendUint16(b, 3)
	entry := func(tag, kind uint16, count, value uint32) {
		b = le.AppendUint16(b, tag)
		b = le.AppendUint16(b, kind)
		b = le.AppendUint32(b, count)
		b = le.AppendUint32(b, value)
	}
	entry(0x010f, 2, 12, 50)
	entry(orientationTag, typeShort, 1, uint32(orientation))
	entry(0x8825, 4, 1, 62)
	b = append(b, 0, 0, 0, 0)
	return append(b, "secret makerGPS-52.5200N"...)
}

func painted() *image.Paletted {
	m := image.NewPaletted(image.Rect(0, 0, 24, 16), color.Palette{color.Black, color.White, color.RGBA{200, 30, 30, 255}, color.RGBA{0, 0, 255, 255}})
	for i := range m.Pix {
		m.Pix[i] = uint8(i * 7 % 4)
	}
	return m
}

func jpegFile(t testing.TB, segments ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, painted(), &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	out := slices.Clone(b.Bytes()[:2])
	for _, s := range segments {
		out = append(out, s...)
	}
	return append(out, b.Bytes()[2:]...)
}

func segmentOf(marker byte, payload string) []byte {
	b := []byte{0xff, marker}
	return append(binary.BigEndian.AppendUint16(b, uint16(len(payload)+2)), payload...)
}

func fullJPEG(t testing.TB) []byte {
	return append(jpegFile(t,
		segmentOf(0xe0, "JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x01\x01GPS-52.5200N"),
		segmentOf(0xe1, exifMark+string(exif(6))),
		segmentOf(0xe1, "http://ns.adobe.com/xap/1.0/\x00<?xpacket GPS-52.5200N?>"),
		segmentOf(0xed, "Photoshop 3.0\x00secret maker"),
		segmentOf(0xfe, "secret comment"),
		segmentOf(0xe2, "ICC_PROFILE\x00\x01\x01profile"),
		segmentOf(0xe2, "MPF\x00secret maker"),
	), "trailing video"...)
}

func chunkOf(kind string, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	b = append(append(b, kind...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

func pngFile(t testing.TB, late bool) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, painted()); err != nil {
		t.Fatal(err)
	}
	head, rest := b.Bytes()[:33], b.Bytes()[33:]
	body, end := rest[:len(rest)-12], rest[len(rest)-12:]
	out := slices.Clone(head)
	extra := slices.Concat(chunkOf("tEXt", []byte("Comment\x00secret comment")), chunkOf("zTXt", []byte("a\x00\x00secret maker")),
		chunkOf("iTXt", []byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00xpacket")), chunkOf("tIME", make([]byte, 7)),
		chunkOf("pHYs", make([]byte, 9)), chunkOf("eXIf", exif(3)), chunkOf("prVt", []byte("secret maker")))
	if late {
		return slices.Concat(out, body, extra, end, []byte("trailing video"))
	}
	return slices.Concat(out, extra, body, end, []byte("trailing video"))
}

func gifFile(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{painted(), painted()}, Delay: []int{10, 20}, LoopCount: 5})
	if err != nil {
		t.Fatal(err)
	}
	out := b.Bytes()
	at := bytes.Index(out, []byte("NETSCAPE2.0")) - 3
	extra := []byte("\x21\xfe\x0esecret comment\x00\x21\xff\x0bXMP DataXMP\x07xpacket\x00\x21\x01\x0c............\x0csecret maker\x00")
	return slices.Concat(out[:at], extra, out[at:], []byte("trailing video"))
}

// lossless is a lossless WebP file with one pixel.
var lossless, _ = base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")

func riffOf(kind string, payload []byte) []byte {
	b := append([]byte(kind), binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))...)
	if b = append(b, payload...); len(payload)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

func webpOf(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), slices.Concat(chunks...)...)
	return append(append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body)))...), body...)
}

func webpFull() []byte {
	frame := slices.Concat(make([]byte, frameHead), lossless[12:], riffOf("junk", []byte("secret maker")))
	return append(webpOf(
		riffOf("VP8X", []byte{0x2e, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
		riffOf("ICCP", []byte("profile")), riffOf("ANIM", make([]byte, 6)), riffOf("ANMF", frame),
		riffOf("EXIF", exif(8)), riffOf("XMP ", []byte("xpacket GPS-52.5200N")), riffOf("junk", []byte("secret maker")),
	), "trailing video"...)
}

func strip(k Kind, b []byte) ([]byte, error) {
	var out bytes.Buffer
	err := Strip(k, bytes.NewReader(b), int64(len(b)), &out)
	return out.Bytes(), err
}

func samples(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"jpeg": fullJPEG(t), "plain jpeg": jpegFile(t), "png": pngFile(t, false), "png with late text": pngFile(t, true),
		"gif": gifFile(t), "webp": webpFull(), "plain webp": lossless,
	}
}

func TestStrippingKeepsOnlyThePicture(t *testing.T) {
	for name, b := range samples(t) {
		kind, err := Check(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatalf("%s: Check returned %v", name, err)
		}
		clean, err := strip(kind, b)
		if err != nil {
			t.Fatalf("%s: stripping returned %v", name, err)
		}
		for _, s := range secrets {
			if bytes.Contains(clean, []byte(s)) {
				t.Errorf("%s: %q is still in the file", name, s)
			}
		}
		again, err := strip(kind, clean)
		if err != nil || !bytes.Equal(again, clean) {
			t.Errorf("%s: stripping twice changes the file: %v", name, err)
		}
		if got, err := Check(bytes.NewReader(clean), int64(len(clean))); got != kind || err != nil {
			t.Errorf("%s: the stripped file is %v, %v", name, got, err)
		}
		if kind != WebP { // the standard library has no decoder for WebP
			same(t, name, b, clean)
		}
	}
}

// same fails the test unless two files show the same image, pixel for pixel.
func same(t *testing.T, name string, a, b []byte) {
	t.Helper()
	one, _, err1 := image.Decode(bytes.NewReader(a))
	two, _, err2 := image.Decode(bytes.NewReader(b))
	if err1 != nil || err2 != nil || one.Bounds() != two.Bounds() {
		t.Fatalf("%s: decoding returned %v and %v, or the bounds differ", name, err1, err2)
	}
	for y := range one.Bounds().Dy() {
		for x := range one.Bounds().Dx() {
			if one.At(x, y) != two.At(x, y) {
				t.Fatalf("%s: the stripped file shows a different image", name)
			}
		}
	}
}

func TestOrientationColoursAndTimingAreKept(t *testing.T) {
	clean, err := strip(JPEG, fullJPEG(t))
	if err != nil || !bytes.Contains(clean, append([]byte(exifMark), turned(6)...)) || !bytes.Contains(clean, []byte("ICC_PROFILE")) {
		t.Errorf("jpeg: the orientation or the colour profile is missing: %v %q", err, clean[:100])
	}
	for _, late := range []bool{false, true} {
		clean, err = strip(PNG, pngFile(t, late))
		if err != nil || !bytes.Contains(clean, chunkOf("eXIf", turned(3))) || !bytes.Contains(clean, []byte("pHYs")) {
			t.Errorf("png: the orientation or the pixel size is missing: %v %q", err, clean)
		}
	}
	clean, err = strip(WebP, webpFull())
	if err != nil || !bytes.Contains(clean, riffOf("EXIF", turned(8))) || !bytes.Contains(clean, []byte("ICCP")) {
		t.Errorf("webp: the orientation or the colour profile is missing: %v %q", err, clean)
	}
	if flags := clean[20]; flags&webpXMP != 0 || flags&webpEXIF == 0 || int(binary.LittleEndian.Uint32(clean[4:])) != len(clean)-8 {
		t.Errorf("webp: the flags are %x, the file has %d bytes", flags, len(clean))
	}
	clean, err = strip(GIF, gifFile(t))
	if err != nil {
		t.Fatal(err)
	}
	all, err := gif.DecodeAll(bytes.NewReader(clean))
	if err != nil || len(all.Image) != 2 || all.LoopCount != 5 || all.Delay[1] != 20 {
		t.Errorf("gif: the frames, the loop or the delays changed: %v %v", err, all)
	}
}

func TestBrokenImagesAreRefused(t *testing.T) {
	for name, b := range samples(t) {
		kind, _ := Check(bytes.NewReader(b), int64(len(b)))
		whole := bytes.TrimSuffix(b, []byte("trailing video"))
		for _, cut := range []int{1, 5, len(whole) / 2, len(whole) - 13} {
			if clean, err := strip(kind, whole[:len(whole)-cut]); err == nil {
				t.Errorf("%s without its last %d of %d bytes was stripped to %d bytes", name, cut, len(whole), len(clean))
			}
		}
	}
	for name, b := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "svg": []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), "html": []byte("<html>"),
		"bmp": []byte("BM000000000000000000"), "only the signature": []byte("\x89PNG\r\n\x1a\n"), "gif head": []byte("GIF89a"), "jpeg head": {0xff, 0xd8, 0xff},
		"huge": pngOf(1<<20, 1), "many pixels": pngOf(8001, 5000), "flat": pngOf(0, 5), "webp head": []byte("RIFF\x10\x00\x00\x00WEBPVP8 \x00\x00\x00\x00"),
	} {
		if k, err := Check(bytes.NewReader(b), int64(len(b))); err == nil {
			t.Errorf("%s is accepted as %v", name, k.MediaType())
		}
	}
}

func TestALargePictureIsAccepted(t *testing.T) {
	b := pngOf(8000, 5000)
	if _, err := Check(bytes.NewReader(b), int64(len(b))); err != nil {
		t.Error(err)
	}
}

func pngOf(width, height uint32) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	return append([]byte(pngSignature), chunkOf("IHDR", append(head, 8, 2, 0, 0, 0))...)
}

func TestAReaderThatStopsEndsTheStripping(t *testing.T) {
	b := fullJPEG(t)
	r, done := Stripped(JPEG, bytes.NewReader(b), int64(len(b)))
	if _, err := io.ReadFull(r, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := done(); err != nil {
		t.Errorf("stopping early returned %v", err)
	}
	r, done = Stripped(JPEG, bytes.NewReader(b), 100)
	_, err := io.ReadAll(r)
	if failure := done(); err == nil || failure == nil || !strings.Contains(failure.Error(), "malformed") {
		t.Errorf("the reader returned %v, done returned %v, want an error that the file is malformed", err, failure)
	}
}

// fuzz verifies that no input causes a panic, that the output is not much larger than the input,
// and that stripping it again changes nothing.
func fuzz(f *testing.F, kind Kind, seeds ...[]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = Check(bytes.NewReader(b), int64(len(b)))
		clean, err := strip(kind, b)
		if err != nil {
			return
		}
		if len(clean) > len(b)+64 {
			t.Fatalf("%d bytes were stripped to %d", len(b), len(clean))
		}
		again, err := strip(kind, clean)
		if err != nil || !bytes.Equal(again, clean) {
			t.Fatalf("stripping twice changed the file: %v\n%q\n%q", err, clean, again)
		}
	})
}

func FuzzJPEG(f *testing.F) { fuzz(f, JPEG, fullJPEG(f), jpegFile(f)) }
func FuzzPNG(f *testing.F)  { fuzz(f, PNG, pngFile(f, false), pngFile(f, true)) }
func FuzzGIF(f *testing.F)  { fuzz(f, GIF, gifFile(f)) }
func FuzzWebP(f *testing.F) { fuzz(f, WebP, webpFull(), lossless) }
