package frames

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The key and its response are from RFC 6455, section 1.3.
const (
	rfcKey    = "dGhlIHNhbXBsZSBub25jZQ=="
	rfcAnswer = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nConnection: Upgrade\r\nsec-websocket-accept:  s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
)

func TestTheEndOfTheResponseIsFound(t *testing.T) {
	n, err := Answer([]byte(rfcAnswer+"\x81\x01x"), rfcKey)
	if err != nil || n != len(rfcAnswer) {
		t.Errorf("the complete response: got %d, %v", n, err)
	}
	for i := range len(rfcAnswer) {
		if n, err := Answer([]byte(rfcAnswer[:i]), rfcKey); n != 0 || err != nil {
			t.Fatalf("with %d bytes: got %d, %v", i, n, err)
		}
	}
}

func TestInvalidResponsesAreRefused(t *testing.T) {
	var refused *RefusedError
	if _, err := Answer([]byte("HTTP/1.1 403 Forbidden\r\n\r\n"), rfcKey); !errors.As(err, &refused) || refused.Status != 403 {
		t.Errorf("a response with status 403 returned %v, want a RefusedError with that status", err)
	}
	for _, p := range []string{
		strings.Replace(rfcAnswer, "s3pP", "xxxx", 1), "HTTP/1.1 101 OK\r\n\r\n", "SSH-2.0\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", strings.Repeat("x", maxAnswer+1),
	} {
		if _, err := Answer([]byte(p), rfcKey); err == nil {
			t.Errorf("%.40q is accepted", p)
		}
	}
}

func TestTheUpgradeRequestHasItsHeaders(t *testing.T) {
	u := Upgrade{Host: "h:1", Path: "/api/ws/x?as=attendee", Cookie: "a=b", Key: rfcKey}
	got := string(u.Append(nil))
	for _, want := range []string{"GET /api/ws/x?as=attendee HTTP/1.1\r\n", "\r\nHost: h:1\r\n", "\r\nCookie: a=b\r\n", "\r\nSec-WebSocket-Key: " + rfcKey + "\r\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the request lacks %q: %q", want, got)
		}
	}
	if !strings.HasSuffix(got, "\r\n\r\n") {
		t.Error("the request has no end")
	}
}

// Unmasking an encoded frame restores the payload.
func TestEncodedFramesUnmask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload := strings.Repeat("ab", rapid.SampledFrom([]int{0, 1, 62, 63, 200, 32767, 32768, 40000}).Draw(t, "half"))
		mask := rapid.Uint32().Draw(t, "mask")
		p := AppendText(nil, mask, []byte(payload))
		if p[1]&0x80 == 0 {
			t.Fatal("the frame is not masked")
		}
		at := 2
		switch p[1] & 0x7f {
		case 126:
			at = 4
		case 127:
			at = 10
		}
		key, body := p[at:at+4], p[at+4:]
		for i := range body {
			body[i] ^= key[i&3]
		}
		if string(body) != payload {
			t.Errorf("unmasking changed a payload of %d bytes (result: %d bytes)", len(payload), len(body))
		}
	})
}
