package powercut

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"atelier/persistence/powercut"
)

// faultsOf lists the ways in which each kind of call fails.
var faultsOf = map[powercut.Kind][]powercut.Fault{
	powercut.Create:     {{Err: syscall.ENOSPC}, {Err: syscall.EIO}},
	powercut.Mkdir:      {{Err: syscall.ENOSPC}},
	powercut.Link:       {{Err: syscall.EIO}},
	powercut.Unlink:     {{Err: syscall.EIO}},
	powercut.Rmdir:      {{Err: syscall.EIO}},
	powercut.Rename:     {{Err: syscall.EIO}},
	powercut.Write:      {{Err: syscall.EIO}, {Err: syscall.ENOSPC}, {Short: 7}},
	powercut.Truncate:   {{Err: syscall.EIO}},
	powercut.Allocate:   {{Err: syscall.ENOSPC}},
	powercut.Chmod:      {{Err: syscall.EIO}},
	powercut.Sync:       {{Err: syscall.EIO}},
	powercut.SyncFolder: {{Err: syscall.EIO}},
}

// mappedFiles lists the files that Badger writes only through mapped memory, where writes are never
// short.
var mappedFiles = map[string]bool{"write-ahead log": true, "table": true, "statistics": true}

// plan is one fault. The first nth calls at a place succeed, and the next call fails. If stays is
// set, each later call fails, too, until the disk is repaired.
type plan struct {
	at    place
	fault powercut.Fault
	nth   int
	stays bool
	steps int // number of load steps in each of three sessions
	seed  uint64
}

func (p plan) String() string {
	what := "short write"
	if p.fault.Err != 0 {
		what = fmt.Sprintf("%s (%s)", map[syscall.Errno]string{syscall.EIO: "EIO", syscall.ENOSPC: "ENOSPC"}[p.fault.Err], p.at.call)
	}
	return what + ", " + p.at.file
}

// plansFor returns a plan for each way to fail, at each place that occurred.
func plansFor(seen map[place]int, seed uint64) (plans []plan) {
	r := rand.New(rand.NewPCG(seed, 2))
	for _, p := range sortedPlaces(seen) {
		for _, f := range faultsOf[p.call] {
			if f.Short > 0 && mappedFiles[p.file] {
				continue
			}
			plans = append(plans, plan{at: p, fault: f, nth: r.IntN(seen[p]/4 + 1), stays: r.IntN(2) == 0, steps: 15, seed: r.Uint64()})
		}
	}
	return plans
}

// onlyShared returns the plans for files that only nodes with a shared store have.
func onlyShared(plans []plan) []plan {
	return slices.DeleteFunc(plans, func(p plan) bool { return p.at.file != "objects" && p.at.file != "copies of objects" })
}

// outcome is the result of a fault.
type outcome struct {
	plan
	verdict
	fired        int
	acknowledged int
	refusals     []string // refusals to start while the fault lasted
}

// tryFault runs the load on a disk that fails as planned, cuts the power, and verifies the data
// that a new server finds.
func tryFault(p *program, pl plan, at, scratch string) (o outcome, err error) {
	o.plan = pl
	disk, err := newDisk(p, at)
	if err != nil {
		return o, err
	}
	defer disk.Unmount()
	calls := 0
	var vague []string
	disk.Inject(func(c powercut.Call) powercut.Fault {
		if c.Kind != pl.at.call || fileKind(c.Path) != pl.at.file {
			return powercut.Fault{}
		}
		if calls++; calls <= pl.nth || o.fired > 0 && !pl.stays {
			return powercut.Fault{}
		}
		o.fired++
		return pl.fault
	})
	l := newLoad(disk, pl.seed)
	for session := range 3 {
		l.server, err = p.start(dataIn(at))
		if isRefusal(err) {
			o.refusals = append(o.refusals, err.Error())
			if pl.fault.Err != 0 && !strings.Contains(err.Error(), pl.fault.Err.Error()) {
				vague = append(vague, "while the fault lasts, a refusal does not name the fault: "+err.Error())
			}
			disk.Inject(nil) // the operator repairs the disk
			continue
		}
		if s := (status{}); errors.As(err, &s) && s.code == http.StatusServiceUnavailable {
			disk.Inject(nil) // the server had started, and its store stopped immediately
			continue
		}
		if err != nil {
			return o, err
		}
		l.each()
		l.run(pl.steps)
		if session == 1 && !pl.stays {
			l.stop()
		} else {
			l.kill()
		}
	}
	disk.Inject(nil)
	for _, n := range l.acknowledged {
		o.acknowledged += n
	}
	t := disk.Trace()
	o.verdict, err = tryCut(p, t, powercut.Cut{Point: len(t), Seed: pl.seed, Order: powercut.Order(pl.seed % 2)}, scratch)
	o.wrong = append(o.wrong, vague...)
	return o, err
}
