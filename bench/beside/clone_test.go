//go:build linux

package beside

import (
	"crypto/sha1"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestWantsAsksForAllBranches(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	advertised := "001e# service=git-upload-pack\n0000" + "0099" + b + " HEAD\x00shallow symref=HEAD:refs/heads/x\n" +
		"003f" + b + " refs/heads/x\n003f" + a + " refs/heads/y\n003f" + b + " refs/heads/z\n0000"
	if got, want := string(wants(advertised)), "0050want "+a+" ofs-delta agent=atelier-bench\n0032want "+b+"\n00000009done\n"; got != want {
		t.Errorf("the request is\n%q, want\n%q", got, want)
	}
	if got := wants("001e# service=git-upload-pack\n0000"); got != nil {
		t.Errorf("without branches, the request is %q", got)
	}
}

func TestAPackIsReadToItsEnd(t *testing.T) {
	pack := "PACK" + strings.Repeat("content", 20_000)
	sum := sha1.Sum([]byte(pack))
	whole := pack + string(sum[:])
	for response, want := range map[string]string{
		"0008NAK\n" + whole:                                "",
		"0008NAK\nPACK" + string(sum[:]):                   "damaged",
		"0008NAK\n" + whole[:len(whole)-1]:                 "damaged",
		"0008NAK\n" + whole + "more":                       "damaged",
		"0008NAK\nPACK":                                    "damaged",
		"0008NAK\n":                                        "ends after",
		"0014ERR not our ref\n" + strings.Repeat("x", 100): "begins with",
	} {
		for name, r := range map[string]func() (int64, error){
			"at once":      func() (int64, error) { return readPack(strings.NewReader(response)) },
			"byte by byte": func() (int64, error) { return readPack(iotest.OneByteReader(strings.NewReader(response))) },
		} {
			size, err := r()
			if want == "" && (err != nil || size != int64(len(whole))) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%.20q… %s: %d bytes, %v", response, name, size, err)
			}
		}
	}
}

func TestClonesOfARoomShareItsLine(t *testing.T) {
	l := &line{bytesPerSecond: 1000}
	now := time.Unix(0, 0)
	for i, want := range []time.Duration{500, 1000, 1500} {
		if got := l.take(500, now); got != want*time.Millisecond {
			t.Errorf("clone %d needs %v, want %v", i, got, want*time.Millisecond)
		}
	}
	// Bytes that have been sent delay nothing.
	if got := l.take(100, now.Add(time.Minute)); got != 100*time.Millisecond {
		t.Errorf("a minute later the bytes need %v, want 100 ms", got)
	}
}
