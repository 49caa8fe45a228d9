package frames

import "encoding/binary"

// AppendText appends a text message, masked with the key.
func AppendText(dst []byte, mask uint32, payload []byte) []byte {
	return appendFrame(dst, opText, mask, payload)
}

// AppendBinary appends a binary message, masked with the key.
func AppendBinary(dst []byte, mask uint32, payload []byte) []byte {
	return appendFrame(dst, opBinary, mask, payload)
}

// AppendPong appends the answer to a ping.
func AppendPong(dst []byte, mask uint32, payload []byte) []byte {
	return appendFrame(dst, opPong, mask, payload)
}

// AppendClose appends a close frame with a code.
func AppendClose(dst []byte, mask uint32, code uint16) []byte {
	return appendFrame(dst, opClose, mask, binary.BigEndian.AppendUint16(nil, code))
}

func appendFrame(dst []byte, opcode byte, mask uint32, payload []byte) []byte {
	const masked = 0x80
	dst = append(dst, 0x80|opcode)
	switch n := len(payload); {
	case n < 126:
		dst = append(dst, masked|byte(n))
	case n < 1<<16:
		dst = append(dst, masked|126)
		dst = binary.BigEndian.AppendUint16(dst, uint16(n))
	default:
		dst = append(dst, masked|127)
		dst = binary.BigEndian.AppendUint64(dst, uint64(n))
	}
	var key [4]byte
	binary.BigEndian.PutUint32(key[:], mask)
	dst = append(dst, key[:]...)
	for i, c := range payload {
		dst = append(dst, c^key[i&3])
	}
	return dst
}
