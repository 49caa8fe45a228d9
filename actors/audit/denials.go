package audit

import (
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// maxDenials bounds the number of separate counts. Beyond it, the denials that have no count of
// their own yet share one count per status and reason.
const maxDenials = 4096

// Denials counts refused requests by status, caller, codelab and address, and failed sign-ins by
// reason and address. It writes the counts to the audit trail every minute, so that a client's
// flood of equal requests costs one record per minute. Safe for concurrent use.
type Denials struct {
	audit *Trail
	log   *slog.Logger
	stop  chan struct{}
	done  sync.WaitGroup

	mu     sync.Mutex
	counts map[denial]int
}

type denial struct {
	status                          int
	actorType, actorID, codelab, ip string
	why                             string // reason of a failed sign-in; "" for other requests
}

func (d denial) record(n int, at time.Time) *Record {
	r := &Record{
		Action: "access_denied", ActorType: d.actorType, ActorId: d.actorID, CodelabId: d.codelab, Ip: d.ip, CreatedAt: at.UnixMilli(),
		Metadata: map[string]string{"status": strconv.Itoa(d.status), "count": strconv.Itoa(n)},
	}
	if d.why != "" {
		r.Action, r.Metadata = "admin_login_failed", map[string]string{"by": "oidc", "why": d.why, "count": strconv.Itoa(n)}
	}
	return r
}

// NewDenials starts counting. every is the interval between records: a minute, or shorter in tests.
func NewDenials(audit *Trail, every time.Duration, log *slog.Logger) *Denials {
	d := &Denials{audit: audit, log: log, stop: make(chan struct{}), counts: map[denial]int{}}
	d.done.Go(func() {
		tick := audit.clock.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-d.stop:
				d.flush()
				return
			case <-tick.C():
				d.flush()
			}
		}
	})
	return d
}

// Note counts one refused request.
func (d *Denials) Note(status int, actorType, actorID, codelab, ip string) {
	d.note(denial{status: status, actorType: actorType, actorID: actorID, codelab: codelab, ip: ip})
}

// NoteSignIn counts one failed sign-in with the identity provider.
func (d *Denials) NoteSignIn(why, ip string) {
	d.note(denial{actorType: "anonymous", ip: ip, why: why})
}

func (d *Denials) note(k denial) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.counts[k]; !known && len(d.counts) >= maxDenials {
		k = denial{status: k.status, why: k.why, actorType: "various"}
	}
	d.counts[k]++
}

// Close writes the pending counts and stops.
func (d *Denials) Close() {
	close(d.stop)
	d.done.Wait()
}

func (d *Denials) flush() {
	d.mu.Lock()
	counts := d.counts
	d.counts = map[denial]int{}
	d.mu.Unlock()
	for k, n := range counts {
		if err := d.audit.Record(k.record(n, d.audit.clock.Now())); err != nil {
			d.log.Warn("recording refused requests in the audit trail failed; their counts are lost", "error", err)
			return
		}
	}
}
