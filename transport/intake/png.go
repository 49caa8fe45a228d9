package intake

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// pngKept contains the chunks for the pixels, colours and animation of an image.
var pngKept = map[string]bool{
	"IHDR": true, "PLTE": true, "IDAT": true, "IEND": true, "tRNS": true,
	"gAMA": true, "cHRM": true, "sRGB": true, "iCCP": true, "sBIT": true, "cICP": true, "mDCV": true, "cLLI": true,
	"bKGD": true, "pHYs": true, "acTL": true, "fcTL": true, "fdAT": true,
}

// maxEXIF bounds EXIF blocks, in bytes. Larger blocks are ignored.
const maxEXIF = 64 << 10

// stripPNG copies the chunks in pngKept and the orientation of the image. It skips other ancillary
// chunks, and returns an error for other critical chunks.
func stripPNG(in *bufio.Reader, out *bufio.Writer) error {
	signature := make([]byte, len(pngSignature))
	if _, err := io.ReadFull(in, signature); err != nil || string(signature) != pngSignature {
		return errMalformed
	}
	_, _ = out.Write(signature)
	var data, first = false, true
	var turn uint16 // to be written before the end
	for {
		var head [8]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		size, kind := int64(binary.BigEndian.Uint32(head[:])), string(head[4:])
		if size > 1<<31-1 || first && (kind != "IHDR" || size != 13) {
			return errMalformed
		}
		first = false
		switch {
		case pngKept[kind]:
			if kind == "IEND" {
				if !data || size != 0 {
					return errMalformed
				}
				writeTurn(out, turn)
			}
			data = data || kind == "IDAT"
			if err := copyChunk(in, out, head[:], size); err != nil || kind == "IEND" {
				return err
			}
		case kind == "eXIf" && size <= maxEXIF:
			block := make([]byte, size+4)
			if _, err := io.ReadFull(in, block); err != nil {
				return err
			}
			if turn = orientation(block[:size]); turn != 0 && !data {
				writeTurn(out, turn)
				turn = 0
			}
		case kind[0] >= 'a' && kind[0] <= 'z': // ancillary chunk
			if err := copyBytes(io.Discard, in, size+4); err != nil {
				return err
			}
		default:
			return errMalformed
		}
	}
}

// copyChunk copies a chunk whose header was read, and verifies its checksum.
func copyChunk(in io.Reader, out *bufio.Writer, head []byte, size int64) error {
	_, _ = out.Write(head)
	sum := crc32.NewIEEE()
	_, _ = sum.Write(head[4:])
	if err := copyBytes(io.MultiWriter(out, sum), in, size); err != nil {
		return err
	}
	var checksum [4]byte
	if _, err := io.ReadFull(in, checksum[:]); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(checksum[:]) != sum.Sum32() {
		return errMalformed
	}
	_, err := out.Write(checksum[:])
	return err
}

// writeTurn writes a chunk with an orientation, unless it is 0.
func writeTurn(out *bufio.Writer, turn uint16) {
	if turn == 0 {
		return
	}
	block := turned(turn)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(block)))
	chunk = append(append(chunk, "eXIf"...), block...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	_, _ = out.Write(chunk) // out keeps the first error
}
