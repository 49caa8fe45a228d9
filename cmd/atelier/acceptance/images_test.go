package acceptance

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

// pixel returns a small image. Each shade gives a different image.
func pixel(shade uint8) []byte {
	m := image.NewGray(image.Rect(0, 0, 1, 1))
	m.SetGray(0, 0, color.Gray{Y: shade})
	var b bytes.Buffer
	_ = png.Encode(&b, m)
	return b.Bytes()
}

// photo returns a JPEG with metadata: the place where it was taken, and its orientation.
func photo() []byte {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8)), nil)
	exif := "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x02" + "\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00" + "\x88\x25\x00\x04\x00\x00\x00\x01\x00\x00\x00\x26" + "\x00\x00\x00\x00GPS 52.52 N 13.40 E"
	segment := append([]byte{0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
	return append(append([]byte{0xff, 0xd8}, segment...), b.Bytes()[2:]...)
}

func TestUploadedImagesLoseTheirMetadata(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	url := lin.sendFile("/upload/image", "holiday.jpeg", photo()).object().text("url")
	if !strings.HasSuffix(url, ".jpg") {
		t.Errorf("the path is %s", url)
	}
	got := open(t, c.addr).get(url).want(200)
	if got.header.Get("Content-Type") != "image/jpeg" || got.header.Get("Content-Disposition") != "inline" {
		t.Errorf("served as %s, %s", got.header.Get("Content-Type"), got.header.Get("Content-Disposition"))
	}
	if bytes.Contains(got.body, []byte("GPS")) || bytes.Contains(got.body, []byte("\x88\x25")) || !bytes.Contains(got.body, []byte("\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06")) {
		t.Errorf("the served file is %q", got.body)
	}
	if m, err := jpeg.Decode(bytes.NewReader(got.body)); err != nil || m.Bounds().Dx() != 8 {
		t.Errorf("decoding the image returned %v, or its width is not 8", err)
	}
	r := c.newest("image_upload")
	if r.text("actor_id") != lin.id || r.text("actor_type") != "attendee" {
		t.Errorf("the audit record is %v", r)
	}
}

// The metadata of a photo among the materials is removed, because browsers display the photo. A
// file that only begins like an image is not displayed.
func TestImagesInMaterialsLoseTheirMetadata(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	url := c.admin.sendFile("/upload/material", "room.jpg", photo()).object().text("url")
	got := open(t, c.addr).get(url).want(200)
	if got.header.Get("Content-Type") != "image/jpeg" || bytes.Contains(got.body, []byte("GPS")) {
		t.Errorf("served as %s: %q", got.header.Get("Content-Type"), got.body)
	}
	if _, err := jpeg.Decode(bytes.NewReader(got.body)); err != nil {
		t.Error(err)
	}
	broken := append([]byte("\x89PNG\r\n\x1a\n"), "<script>"...)
	got = open(t, c.addr).get(c.admin.sendFile("/upload/material", "x.png", broken).object().text("url")).want(200)
	if got.header.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment") || !bytes.Equal(got.body, broken) {
		t.Errorf("served as %s, %s", got.header.Get("Content-Type"), got.header.Get("Content-Disposition"))
	}
}

func TestRemovedAttendeesCannotUpload(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	lin.sendFile("/upload/image", "a.png", onePixel).want(200)
	c.admin.delete(c.path + "/attendees/" + lin.id).want(204)
	lin.sendFile("/upload/image", "a.png", onePixel).refused(403)
	other := newClassOn(t, c.addr, record{})
	lin = other.join(lin.browser, record{"name": "Lin"})
	lin.sendFile("/upload/image", "a.png", onePixel).want(200)
}
