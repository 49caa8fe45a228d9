package intake

import "encoding/binary"

const (
	orientationTag = 0x0112
	typeShort      = 3
	maxOrientation = 8
)

// exifMark precedes the TIFF block in JPEG, and in some WebP files.
const exifMark = "Exif\x00\x00"

// orientation returns the orientation in a TIFF block, 2 to 8. It returns 0 for the normal
// orientation, and for a block without a valid one.
func orientation(tiff []byte) uint16 {
	var order binary.ByteOrder
	switch {
	case len(tiff) < 8:
		return 0
	case string(tiff[:4]) == "II*\x00":
		order = binary.LittleEndian
	case string(tiff[:4]) == "MM\x00*":
		order = binary.BigEndian
	default:
		return 0
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 0
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			return 0
		}
		if order.Uint16(entries) == orientationTag && order.Uint16(entries[2:]) == typeShort && order.Uint32(entries[4:]) == 1 {
			if v := order.Uint16(entries[8:]); v > 1 && v <= maxOrientation {
				return v
			}
			return 0
		}
		entries = entries[12:]
	}
	return 0
}

// turned returns a TIFF block with an orientation and nothing else.
func turned(orientation uint16) []byte {
	b := []byte("MM\x00*\x00\x00\x00\x08") // big endian, followed by the directory
	b = binary.BigEndian.AppendUint16(b, 1)
	b = binary.BigEndian.AppendUint16(b, orientationTag)
	b = binary.BigEndian.AppendUint16(b, typeShort)
	b = binary.BigEndian.AppendUint32(b, 1)
	b = binary.BigEndian.AppendUint16(b, orientation)
	return append(b, 0, 0, 0, 0, 0, 0) // rest of the value, no next directory
}
