package intake

import (
	"bufio"
	"encoding/binary"
	"io"
	"strings"
)

// Markers of JPEG.
const (
	markSOI  = 0xd8
	markEOI  = 0xd9
	markSOS  = 0xda
	markTEM  = 0x01
	markRST0 = 0xd0
	markRST7 = 0xd7
	markAPP0 = 0xe0
	markAPPF = 0xef
	markCOM  = 0xfe
)

// stripJPEG copies the image data. Of the application segments it keeps JFIF without its thumbnail,
// the colour profile, Adobe's colour information, and the orientation in EXIF.
func stripJPEG(in *bufio.Reader, out *bufio.Writer) error {
	if b, err := in.Peek(2); err != nil || b[0] != 0xff || b[1] != markSOI {
		return errMalformed
	}
	if err := copyBytes(out, in, 2); err != nil {
		return err
	}
	var scans int
	var oriented bool // the orientation was written
	m, err := nextMarker(in)
	for err == nil {
		switch {
		case m == markEOI:
			if scans == 0 {
				return errMalformed
			}
			_, err := out.Write([]byte{0xff, markEOI})
			return err
		case m == 0 || m == markSOI || m == markTEM || m >= markRST0 && m <= markRST7:
			return errMalformed
		}
		payload, err := segment(in)
		if err != nil {
			return err
		}
		if m >= markAPP0 && m <= markAPPF || m == markCOM {
			payload = keptOf(m, payload, &oriented)
		}
		if payload != nil {
			if err := writeSegment(out, m, payload); err != nil {
				return err
			}
		}
		if m == markSOS {
			scans++
			m, err = copyScan(in, out)
		} else {
			m, err = nextMarker(in)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// nextMarker reads a marker after one or more 0xff bytes.
func nextMarker(in *bufio.Reader) (byte, error) {
	b, err := in.ReadByte()
	if err != nil {
		return 0, err
	}
	if b != 0xff {
		return 0, errMalformed
	}
	for b == 0xff {
		if b, err = in.ReadByte(); err != nil {
			return 0, err
		}
	}
	return b, nil
}

// segment reads the length and the payload after a marker, and returns the payload.
func segment(in *bufio.Reader) ([]byte, error) {
	var length [2]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint16(length[:])) - 2
	if n < 0 {
		return nil, errMalformed
	}
	payload := make([]byte, n)
	_, err := io.ReadFull(in, payload)
	return payload, err
}

// keptOf returns the part of an application segment or comment to keep, or nil. It keeps at most one
// orientation, and records in oriented that it was kept.
func keptOf(marker byte, payload []byte, oriented *bool) []byte {
	text := string(payload[:min(len(payload), 16)])
	switch {
	case marker == markAPP0 && strings.HasPrefix(text, "JFIF\x00") && len(payload) >= 14:
		payload = payload[:14]
		payload[12], payload[13] = 0, 0 // size of the thumbnail
		return payload
	case marker == markAPP0+1 && strings.HasPrefix(text, exifMark) && !*oriented:
		if v := orientation(payload[len(exifMark):]); v != 0 {
			*oriented = true
			return append([]byte(exifMark), turned(v)...)
		}
	case marker == markAPP0+2 && strings.HasPrefix(text, "ICC_PROFILE\x00"):
		return payload
	case marker == markAPP0+14 && strings.HasPrefix(text, "Adobe") && len(payload) >= 12:
		return payload[:12]
	}
	return nil
}

func writeSegment(out *bufio.Writer, marker byte, payload []byte) error {
	head := [4]byte{0xff, marker}
	binary.BigEndian.PutUint16(head[2:], uint16(len(payload)+2))
	_, _ = out.Write(head[:])
	_, err := out.Write(payload)
	return err
}

// copyScan copies entropy-coded data and returns the marker that ends it.
func copyScan(in *bufio.Reader, out *bufio.Writer) (byte, error) {
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if b == 0xff {
			for b == 0xff {
				if b, err = in.ReadByte(); err != nil {
					return 0, err
				}
			}
			// A 0 means that the 0xff is data. A restart marker belongs to the data.
			if b != 0 && (b < markRST0 || b > markRST7) {
				return b, nil
			}
			_ = out.WriteByte(0xff) // out keeps the first error
		}
		if err := out.WriteByte(b); err != nil {
			return 0, err
		}
	}
}
