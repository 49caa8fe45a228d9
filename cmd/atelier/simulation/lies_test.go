package simulation

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	pb "atelier/actors/codelab/codelabpb"

	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/actors/files"
	"atelier/actors/room"
	"atelier/persistence/memory"
	"atelier/transport/messages"
)

// Each oracle detects its kind of fault. In each case, a layer below or next to the server
// misbehaves, and the expected oracle must report it.
func TestOraclesDetectFaults(t *testing.T) {
	for name, c := range map[string]struct {
		plan  string // the plan of all seeds
		finds string // the finding begins with one of these words
		lies  func() lies
	}{
		"a store that loses a record": {finds: "acknowledged", lies: func() lies {
			var n atomic.Int32
			return onLogs(func(l *lyingLog) {
				l.append = func(b durable.Batch) error {
					if n.Add(1)%40 > 0 {
						return l.Log.Append(b)
					}
					go b.Done(nil)
					return nil
				}
			})
		}},
		"a store that writes a record twice": {finds: "acknowledged once", lies: func() lies {
			return onLogs(func(l *lyingLog) {
				l.append = func(b durable.Batch) error {
					b.Records = append(b.Records, b.Records...)
					return l.Log.Append(b)
				}
			})
		}},
		"a snapshot that lacks a part": {finds: "snapshot same acknowledged", plan: "faults=0", lies: func() lies {
			return onLogs(func(l *lyingLog) {
				l.snapshot = func(state []byte) []byte { return bytes.ReplaceAll(state, []byte("chat-"), []byte("tahc-")) }
			})
		}},
		"a lost delivery": {finds: "webhooks", plan: "faults=0", lies: func() lies {
			return onLogs(func(l *lyingLog) {
				l.append = func(b durable.Batch) error {
					b.Rows = slices.DeleteFunc(slices.Clone(b.Rows), func(r durable.Row) bool { return r.Table == "hookqueue" && !r.Delete })
					return l.Log.Append(b)
				}
			})
		}},
		"a bus that duplicates messages": {plan: "nodes=3 faults=0", finds: "once erased", lies: func() lies {
			return lies{fate: func(m bustest.Message, f *bustest.Fate) { f.Twice = m.Sort == bustest.Question }}
		}},
		"a replica that differs": {plan: "nodes=3 faults=0", finds: "same acknowledged removed", lies: func() lies {
			return lies{store: func(n *memory.Node) durable.Shared { return &changing{n} }}
		}},
		"a removed person who remains in the log": {finds: "erased", lies: func() lies {
			return onLogs(func(l *lyingLog) { l.rewrite = func() error { return nil } })
		}},
		"a deleted codelab that remains": {finds: "deleted", lies: func() lies {
			return lies{store: func(n *memory.Node) durable.Shared { return &keeping{n} }}
		}},
		"a token that is used twice": {plan: "payers=3", finds: "tokens", lies: func() lies {
			return onRows(func(r durable.Row) bool {
				return strings.HasPrefix(r.Table, "tokens-") && r.Precondition.Kind() == durable.PreconditionUnchanged
			})
		}},
		"a session that does not end": {plan: "visitors=3", finds: "grants", lies: func() lies {
			return onRows(func(r durable.Row) bool { return r.Table == "sessionfamilies" && r.Delete })
		}},
		"an upload that is removed despite a claim": {plan: "uploaders=3", finds: "uploads", lies: func() lies {
			return onRows(func(r durable.Row) bool { return r.Table == "claims" })
		}},
		"an upload that is removed although a codelab refers to it": {plan: "uploaders=3 faults=0", finds: "uploads", lies: func() lies {
			return lies{store: func(n *memory.Node) durable.Shared { return &blind{n, "uploaduses"} }}
		}},
		"an object that is removed although a submission refers to it": {plan: "uploaders=3 faults=0", finds: "uploads", lies: func() lies {
			return lies{store: func(n *memory.Node) durable.Shared { return &blind{n, "blobuses"} }}
		}},
		"a lost object": {plan: "uploaders=3 faults=0", finds: "uploads", lies: func() lies {
			return lies{blobs: func(b files.Blobs) files.Blobs { return forgetfulBlobs{b} }}
		}},
		"an upload that remains": {plan: "uploaders=3 faults=0", finds: "uploads", lies: func() lies {
			return onRows(func(r durable.Row) bool { return r.Table == "uploads" && r.Delete })
		}},
		"a reference that remains": {plan: "uploaders=3 faults=0", finds: "uploads", lies: func() lies {
			return onLogs(func(l *lyingLog) {
				l.append = func(b durable.Batch) error {
					b.Rows = slices.DeleteFunc(slices.Clone(b.Rows), func(r durable.Row) bool { return r.Table == "blobuses" && r.Delete })
					return l.Log.Append(b)
				}
			})
		}},
		"an object that remains": {plan: "uploaders=3 faults=0", finds: "uploads", lies: func() lies {
			return lies{blobs: func(b files.Blobs) files.Blobs { return hoardingBlobs{b} }}
		}},
		"an answer that never comes": {plan: "visitors=3 faults=0", finds: "answers", lies: func() lies {
			var n atomic.Int32
			return lies{store: func(s *memory.Node) durable.Shared {
				return &rowLiar{Shared: s, append: func(rows []durable.Row, done func(error)) error {
					if rows[0].Table == "sessionfamilies" && n.Add(1)%20 == 0 {
						time.AfterFunc(answerWithin+30*time.Second, func() { done(errCommit) }) // too late
						return nil
					}
					return s.Append(rows, done)
				}}
			}}
		}},
		"a node that answers after its lease expired": {plan: "nodes=3", finds: "out linearizable", lies: func() lies {
			return lies{store: func(n *memory.Node) durable.Shared { return &stubborn{n} }}
		}},
		"a frame that is not delivered": {plan: "listeners=4 nodes=2", finds: "frames", lies: func() lies {
			return lies{frames: func(node string) codelab.Frames { return forgetfulFrames{node == "n1"} }}
		}},
		"a frame that is delivered to everybody": {finds: "audience", lies: func() lies {
			return lies{frames: func(string) codelab.Frames { return gossipingFrames{} }}
		}},
		"a network that loses presence messages": {plan: "listeners=4 nodes=2", finds: "presence", lies: func() lies {
			return lies{fate: func(m bustest.Message, f *bustest.Fate) {
				f.Lost = f.Lost || strings.HasPrefix(kindOf(m), "aside")
			}}
		}},
		"a goroutine that does not end": {finds: "goroutines", lies: func() lies {
			return lies{frames: func(string) codelab.Frames {
				go func() { time.Sleep(30 * time.Minute) }()
				return messages.Frames{}
			}}
		}},
		"an owner that never leaves": {finds: "rest", lies: func() lies {
			return onLogs(func(l *lyingLog) { l.close = func() {} })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= 60; seed++ {
				p := PlanOf(seed)
				if err := p.Parse(c.plan); err != nil {
					t.Fatal(err)
				}
				found := ""
				synctest.Test(t, func(*testing.T) {
					_, found = run(p, c.lies())
					time.Sleep(time.Hour) // by then, the goroutines of the faulty layer have ended
				})
				if which, _, _ := strings.Cut(found, ":"); found != "" {
					if first, _, _ := strings.Cut(which, " "); !slices.Contains(strings.Fields(c.finds), first) {
						t.Errorf("seed %d detects %s", seed, found)
					}
					return
				}
			}
			t.Error("no oracle detected the fault")
		})
	}
}

// lyingLog is a log with some calls replaced.
type lyingLog struct {
	durable.Log
	append  func(durable.Batch) error
	rewrite func() error
	// snapshot changes the stored state.
	snapshot func(state []byte) []byte
	close    func()
}

func (l *lyingLog) Snapshot(seq uint64, state []byte, keep uint64, done func(error)) error {
	if l.snapshot != nil {
		state = l.snapshot(state)
	}
	return l.Log.Snapshot(seq, state, keep, done)
}

func (l *lyingLog) Append(b durable.Batch) error {
	if l.append != nil {
		return l.append(b)
	}
	return l.Log.Append(b)
}

func (l *lyingLog) Rewrite(upTo uint64, fn func(uint64, []byte) ([]byte, bool, error)) error {
	if l.rewrite != nil {
		return l.rewrite()
	}
	return l.Log.Rewrite(upTo, fn)
}

func (l *lyingLog) Close() {
	if l.close != nil {
		l.close()
		return
	}
	l.Log.Close()
}

type logLiar struct {
	durable.Shared
	change func(*lyingLog)
}

func (n *logLiar) Open(actor string) (durable.Log, error) {
	log, err := n.Shared.Open(actor)
	if err != nil {
		return nil, err
	}
	l := &lyingLog{Log: log}
	n.change(l)
	return l, nil
}

func onLogs(change func(*lyingLog)) lies {
	return lies{store: func(n *memory.Node) durable.Shared { return &logLiar{n, change} }}
}

// rowLiar is a store that replaces only the writing of records.
type rowLiar struct {
	durable.Shared
	append func(rows []durable.Row, done func(error)) error
}

func (n *rowLiar) Append(rows []durable.Row, done func(error)) error { return n.append(rows, done) }

// onRows returns lies that acknowledge some records without writing them.
func onRows(lost func(durable.Row) bool) lies {
	return lies{store: func(n *memory.Node) durable.Shared {
		return &rowLiar{Shared: n, append: func(rows []durable.Row, done func(error)) error {
			var kept []durable.Row
			for _, r := range rows {
				if !lost(r) {
					kept = append(kept, r)
				}
			}
			return n.Append(kept, done)
		}}
	}}
}

// changing is a store on which replicas differ from the written records.
type changing struct{ durable.Shared }

type changingReader struct{ durable.Reader }

func (n *changing) Follow(actor string) (durable.Reader, error) {
	r, err := n.Shared.Follow(actor)
	return changingReader{r}, err
}

func (r changingReader) Load(history uint64, snapshot func(durable.Snapshot) error, record func(uint64, []byte) error) error {
	return r.Reader.Load(history, snapshot, func(seq uint64, b []byte) error {
		return record(seq, bytes.ReplaceAll(b, []byte("chat-"), []byte("tahc-")))
	})
}

// keeping is a store whose Purge does nothing.
type keeping struct{ durable.Shared }

func (n *keeping) Purge(string) error { return nil }

// blind is a store in which scans of one table find nothing.
type blind struct {
	durable.Shared
	table string
}

func (n *blind) Scan(q durable.Scan, fn func(key, value []byte) bool) error {
	if q.Table == n.table {
		return nil
	}
	return n.Shared.Scan(q, fn)
}

// forgetfulBlobs removes contents that are in use.
type forgetfulBlobs struct{ files.Blobs }

func (b forgetfulBlobs) Discard(_ files.InUse, sums ...files.Sum) error {
	return b.Blobs.Discard(func(files.Sum) (bool, error) { return false, nil }, sums...)
}

// hoardingBlobs removes nothing.
type hoardingBlobs struct{ files.Blobs }

func (hoardingBlobs) Discard(files.InUse, ...files.Sum) error { return nil }

func (hoardingBlobs) Collect(files.InUse) (int, error) { return 0, nil }

// stubborn never detects the end of its lease, and continues to write.
type stubborn struct{ durable.Shared }

func (n *stubborn) Holds() bool { return true }

func (n *stubborn) Lost() <-chan struct{} { return nil }

// gossipingFrames sends messages for one attendee to all attendees.
type gossipingFrames struct{ messages.Frames }

func (f gossipingFrames) Encode(seq uint64, e *pb.Event) (room.Frame, bool) {
	frame, ok := f.Frames.Encode(seq, e)
	if frame.Audience == room.FacilitatorsAndPeople {
		frame.Audience = room.Everyone
	}
	return frame, ok
}

// forgetfulFrames omits some events on one node.
type forgetfulFrames struct{ here bool }

func (f forgetfulFrames) Encode(seq uint64, e *pb.Event) (room.Frame, bool) {
	if f.here && seq%5 == 0 {
		return room.Frame{}, false
	}
	return messages.Frames{}.Encode(seq, e)
}
