//go:build linux

package beside

import (
	"io"
	"sync"
	"time"
)

// line is the network of the room, which all attendees share.
type line struct {
	bytesPerSecond float64 // 0 for no limit

	mu   sync.Mutex
	free time.Time // when the line becomes idle; guarded by mu
}

// reader returns a reader that is as slow as the line. Without a limit it returns r.
func (l *line) reader(r io.Reader) io.Reader {
	if l.bytesPerSecond <= 0 {
		return r
	}
	return &throttled{r, l}
}

type throttled struct {
	io.Reader
	line *line
}

func (t *throttled) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	time.Sleep(t.line.take(n, time.Now()))
	return n, err
}

// take puts n bytes on the line, and returns the time until they are transmitted.
func (l *line) take(n int, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(float64(n) / l.bytesPerSecond * float64(time.Second)))
	return l.free.Sub(now)
}
