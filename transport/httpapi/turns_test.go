package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// oneTurn allows one turn at a time.
func oneTurn() *turns { return &turns{free: make(chan struct{}, 1)} }

func TestAPauseFollowsATurnWhileOthersWait(t *testing.T) {
	for name, tc := range map[string]struct {
		lasts, waits time.Duration
		others       int
	}{
		"others wait":       {lasts: 100 * time.Microsecond, others: 2, waits: 1000 * time.Microsecond},
		"nobody waits":      {lasts: 100 * time.Microsecond, waits: 100 * time.Microsecond},
		"the turn was lost": {lasts: 5 * turnFor, others: 2, waits: turnFor},
		"it took no time":   {others: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				turns := oneTurn()
				began := time.Now()
				release := turns.take()
				var next sync.WaitGroup
				var at time.Duration
				for range tc.others {
					next.Go(func() {
						releaseNext := turns.take()
						if at == 0 {
							at = time.Since(began)
						}
						releaseNext()
					})
				}
				synctest.Wait()
				time.Sleep(tc.lasts) // in simulated time
				release()
				if tc.others == 0 {
					turns.take()()
					at = time.Since(began)
				}
				next.Wait()
				if at != tc.waits {
					t.Errorf("the next turn began after %v, want %v", at, tc.waits)
				}
			})
		})
	}
}

func TestATurnEndsWithItsTime(t *testing.T) {
	turns := oneTurn()
	first := turns.take() // this turn waits for a slow client
	second := turns.take()
	// A lost turn must not be released, because it now belongs to another caller.
	first()
	first()
	if n := len(turns.free); n != 1 {
		t.Errorf("%d turns are taken, want 1", n)
	}
	second()
	turns.take()()
	if n := len(turns.free); n != 0 {
		t.Errorf("after all returns %d turns are taken, want 0", n)
	}
}

func TestATurnIsReleasedOnce(t *testing.T) {
	turns := oneTurn()
	release := turns.take()
	release()
	turns.free <- struct{}{} // another caller takes the turn without a time limit
	release()
	if len(turns.free) != 1 {
		t.Error("the turn of another caller was released")
	}
}

// deadline is a connection that records only its last deadline.
type deadline struct {
	net.Conn
	at time.Time
}

func (d *deadline) SetWriteDeadline(t time.Time) error {
	d.at = t
	return nil
}

func TestADownloadIsSentPieceByPiece(t *testing.T) {
	for _, size := range []int{0, 1, piece - 1, piece, piece + 1, 3 * piece} {
		content := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		for name, r := range map[string]io.Reader{
			"whole": bytes.NewReader(content), "in halves": iotest.HalfReader(bytes.NewReader(content)), "with EOF in the last read": iotest.DataErrReader(bytes.NewReader(content)),
		} {
			conn, turns := &deadline{}, oneTurn()
			var out bytes.Buffer
			n, err := (&paced{io.NopCloser(r), conn, turns}).WriteTo(&out)
			if err != nil || n != int64(size) || !bytes.Equal(out.Bytes(), content) {
				t.Errorf("%d bytes %s: WriteTo returned %d, %v", size, name, n, err)
			}
			if size > 0 && conn.at.IsZero() {
				t.Errorf("%d bytes %s: no write deadline was set", size, name)
			}
			if len(turns.free) != 0 {
				t.Errorf("%d bytes %s: the turn is still taken", size, name)
			}
		}
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

func TestAFailedDownloadReturnsItsError(t *testing.T) {
	broken := errors.New("broken")
	turns := oneTurn()
	p := &paced{io.NopCloser(io.MultiReader(bytes.NewReader([]byte("abc")), iotest.ErrReader(broken))), &deadline{}, turns}
	var out bytes.Buffer
	if n, err := p.WriteTo(&out); n != 3 || !errors.Is(err, broken) || out.String() != "abc" {
		t.Errorf("with a failing reader WriteTo returned %d, %v after %q", n, err, out.String())
	}
	p = &paced{io.NopCloser(bytes.NewReader([]byte("abc"))), &deadline{}, turns}
	if n, err := p.WriteTo(failing{broken}); n != 0 || !errors.Is(err, broken) {
		t.Errorf("with a failing writer WriteTo returned %d, %v", n, err)
	}
	if len(turns.free) != 0 {
		t.Error("the turn is still taken")
	}
}
