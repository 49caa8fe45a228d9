package rfc6455

import (
	"encoding/binary"
	"unicode/utf8"
)

// The close codes that the server uses, from RFC 6455, 7.4, and its registry.
const (
	CloseNormal       = 1000
	CloseGoingAway    = 1001
	CloseProtocol     = 1002
	CloseUnsupported  = 1003
	CloseNoStatus     = 1005 // never sent; it means that the close frame was empty
	CloseInvalidText  = 1007
	ClosePolicy       = 1008
	CloseTooBig       = 1009
	CloseInternal     = 1011
	CloseRestart      = 1012
	CloseTryLater     = 1013
	firstPrivateClose = 3000
	lastPrivateClose  = 4999
)

// validCloseCode reports whether a peer is allowed to send the code. 1004 is reserved; 1005, 1006 and
// 1015 exist only inside an endpoint.
func validCloseCode(code int) bool {
	switch {
	case code >= 1000 && code <= 1003, code >= 1007 && code <= 1014:
		return true
	default:
		return code >= firstPrivateClose && code <= lastPrivateClose
	}
}

// parseClose returns the code in the payload of a close frame, or CloseNoStatus if it is empty.
func parseClose(payload []byte) (code int, err *ProtocolError) {
	switch {
	case len(payload) == 0:
		return CloseNoStatus, nil
	case len(payload) == 1:
		return 0, errCloseLength
	}
	code = int(binary.BigEndian.Uint16(payload))
	if !validCloseCode(code) {
		return 0, errCloseCode
	}
	if !utf8.Valid(payload[2:]) {
		return 0, errCloseText
	}
	return code, nil
}

// cutUTF8 truncates s to at most n bytes at a character boundary.
func cutUTF8(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
