package intake

import (
	"bufio"
	"io"
)

// Parts of a GIF.
const (
	gifExtension   = 0x21
	gifImage       = 0x2c
	gifTrailer     = 0x3b
	gifControl     = 0xf9
	gifApplication = 0xff
)

// stripGIF copies the frames with their timing, and the number of repetitions. Comments, texts and
// all other application data are removed.
func stripGIF(in *bufio.Reader, out *bufio.Writer) error {
	head := make([]byte, 13) // signature and screen
	if _, err := io.ReadFull(in, head); err != nil {
		return err
	}
	if s := string(head[:6]); s != "GIF87a" && s != "GIF89a" {
		return errMalformed
	}
	_, _ = out.Write(head)
	if err := copyColours(in, out, head[10]); err != nil {
		return err
	}
	for images := 0; ; {
		b, err := in.ReadByte()
		if err != nil {
			return err
		}
		switch b {
		case gifTrailer:
			if images == 0 {
				return errMalformed
			}
			return out.WriteByte(b)
		case gifImage:
			images++
			err = copyImage(in, out)
		case gifExtension:
			err = copyExtension(in, out)
		default:
			err = errMalformed
		}
		if err != nil {
			return err
		}
	}
}

// copyColours copies a colour table if the flags announce one.
func copyColours(in io.Reader, out io.Writer, flags byte) error {
	if flags&0x80 == 0 {
		return nil
	}
	return copyBytes(out, in, 3<<(flags&7+1))
}

func copyImage(in *bufio.Reader, out *bufio.Writer) error {
	_ = out.WriteByte(gifImage)
	head := make([]byte, 9)
	if _, err := io.ReadFull(in, head); err != nil {
		return err
	}
	_, _ = out.Write(head)
	if err := copyColours(in, out, head[8]); err != nil {
		return err
	}
	if err := copyBytes(out, in, 1); err != nil { // minimum code size
		return err
	}
	return copyBlocks(in, out)
}

// copyBlocks copies data blocks up to the empty last one.
func copyBlocks(in *bufio.Reader, out io.Writer) error {
	for {
		size, err := in.ReadByte()
		if err != nil {
			return err
		}
		if _, err := out.Write([]byte{size}); err != nil || size == 0 {
			return err
		}
		if err := copyBytes(out, in, int64(size)); err != nil {
			return err
		}
	}
}

// copyExtension copies an extension that contains the timing of a frame or the number of repetitions.
// It skips all other extensions.
func copyExtension(in *bufio.Reader, out *bufio.Writer) error {
	label, err := in.ReadByte()
	if err != nil {
		return err
	}
	switch label {
	case gifControl:
		block := make([]byte, 6)
		if _, err := io.ReadFull(in, block); err != nil {
			return err
		}
		if block[0] != 4 || block[5] != 0 {
			return errMalformed
		}
		_, _ = out.Write([]byte{gifExtension, gifControl})
		_, err := out.Write(block)
		return err
	case gifApplication:
		return copyApplication(in, out)
	}
	return copyBlocks(in, io.Discard)
}

// copyApplication copies the only application data that changes the display: the number of
// repetitions.
func copyApplication(in *bufio.Reader, out *bufio.Writer) error {
	const repeats = "\x0bNETSCAPE2.0\x03\x01"
	if b, err := in.Peek(len(repeats) + 3); err == nil && string(b[:len(repeats)]) == repeats && b[len(b)-1] == 0 {
		_, _ = out.Write([]byte{gifExtension, gifApplication})
		_, _ = out.Write(b)
		_, err := in.Discard(len(b))
		return err
	}
	return copyBlocks(in, io.Discard)
}
