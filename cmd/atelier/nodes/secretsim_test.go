package nodes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/actors/token/seal"
	"atelier/persistence/shares"
)

// This file simulates the secrets of three nodes. Their disks fill up, break and lose unsynced
// data, their processes die, and their links fail. All times are simulated (testing/synctest). The
// simulation verifies:
//
//   - A secret that was created successfully is on two disks, if there are two nodes. It stays
//     there until it is destroyed, and no node ever reports it as lost.
//   - A share that has not expired is found, or reported as unknown.
//   - A destroyed secret does not return to any disk or memory.
//   - Two nodes that can write are enough to create a secret.
//   - After all faults have ended, all nodes have exactly the secrets that are not destroyed.

// simDisk is the disk of a node. Only the data in synced survives the process. While full is set,
// files cannot grow. While eio is set, all calls fail except List, Stat and Close, but Open and
// Remove have their effect. While lame is set, only syncs fail.
type simDisk struct {
	mu              sync.Mutex
	seen, synced    map[string][]byte
	full, eio, lame bool
}

func newSimDisk() *simDisk {
	return &simDisk{seen: map[string][]byte{}, synced: map[string][]byte{}}
}

func (d *simDisk) fault() error {
	if d.eio {
		return syscall.EIO
	}
	return nil
}

func (d *simDisk) List() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.seen)), nil
}

func (d *simDisk) Open(name string, flag int) (shares.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, there := d.seen[name]; !there {
		if flag&os.O_CREATE == 0 {
			return nil, fs.ErrNotExist
		}
		d.seen[name] = []byte{}
	}
	return &simFile{d: d, name: name}, d.fault()
}

func (d *simDisk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.seen, name)
	return d.fault()
}

// Sync makes names durable. If a file itself was not synced, only its name survives.
func (d *simDisk) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.sync(); err != nil {
		return err
	}
	for name := range d.synced {
		if _, there := d.seen[name]; !there {
			delete(d.synced, name)
		}
	}
	for name := range d.seen {
		if _, there := d.synced[name]; !there {
			d.synced[name] = []byte{}
		}
	}
	return nil
}

// sync is called with mu held.
func (d *simDisk) sync() error {
	if d.lame {
		return syscall.EIO
	}
	return d.fault()
}

// crash discards unsynced data.
func (d *simDisk) crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = map[string][]byte{}
	for name, content := range d.synced {
		d.seen[name] = bytes.Clone(content)
	}
}

func (d *simDisk) set(change func(d *simDisk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full, d.eio, d.lame = false, false, false
	change(d)
}

// holds reports whether the disk stores this content durably.
func (d *simDisk) holds(content []byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.synced {
		if bytes.Equal(c, content) {
			return true
		}
	}
	return false
}

type simFile struct {
	d    *simDisk
	name string
	at   int
}

func (f *simFile) Write(p []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.fault(); err != nil {
		return 0, err
	}
	c := f.d.seen[f.name]
	var err error
	if f.d.full && f.at+len(p) > len(c) { // the part that overwrites existing bytes is written
		p, err = p[:min(max(len(c)-f.at, 0), len(p))], syscall.ENOSPC
	}
	next := append(bytes.Clone(c[:min(f.at, len(c))]), p...)
	if len(next) < len(c) {
		next = append(next, c[len(next):]...)
	}
	f.d.seen[f.name] = next
	f.at += len(p)
	return len(p), err
}

func (f *simFile) Read(p []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.fault(); err != nil {
		return 0, err
	}
	c := f.d.seen[f.name]
	if f.at >= len(c) {
		return 0, io.EOF
	}
	n := copy(p, c[f.at:])
	f.at += n
	return n, nil
}

func (f *simFile) Sync() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.sync(); err != nil {
		return err
	}
	f.d.synced[f.name] = bytes.Clone(f.d.seen[f.name]) // the name, too, although some file systems do not guarantee this
	return nil
}

func (f *simFile) Close() error               { return nil }
func (f *simFile) Stat() (fs.FileInfo, error) { return simInfo{f}, nil }

type simInfo struct{ f *simFile }

func (i simInfo) Name() string { return i.f.name }
func (i simInfo) Size() int64 {
	i.f.d.mu.Lock()
	defer i.f.d.mu.Unlock()
	return int64(len(i.f.d.seen[i.f.name]))
}
func (i simInfo) Mode() fs.FileMode  { return 0o600 }
func (i simInfo) ModTime() time.Time { return time.Now() }
func (i simInfo) IsDir() bool        { return false }
func (i simInfo) Sys() any           { return nil }

// simMachine is a node over all of its starts.
type simMachine struct {
	w    *simWorld
	name string
	disk *simDisk
	up   *simProcess // nil while the node is down
}

// simProcess is one start of a node.
type simProcess struct {
	*simMachine
	node     *Node
	ballots  *shares.Ballots
	store    *shares.Store
	exchange *Exchange[shares.Ballot]
	tokens   *Exchange[shares.Share]
	search   *Search
	unplug   func()
	stop     context.CancelFunc
	work     sync.WaitGroup
}

// simWorld is the shared state, including the oracle's records.
type simWorld struct {
	t        *testing.T
	rng      *rand.Rand
	net      *bustest.Net
	machines []*simMachine

	mu      sync.Mutex
	until   map[string]time.Time // guarded by mu; when each node's lease ends
	made    map[string]simMade   // guarded by mu; secrets that were created successfully
	counted map[string]bool      // guarded by mu; secrets that are no longer needed
	// shares contains the end of each share; guarded by mu.
	shares map[seal.ShareID]time.Time
}

type simMade struct {
	secret  []byte
	keepers []string
}

const simLease = 3 * time.Second

// simStore is the database, as one node reads it.
type simStore struct {
	durable.Shared
	w    *simWorld
	name string
}

func (s simStore) Node() string { return s.name }
func (s simStore) Holds() bool  { return true }

func (s simStore) Members() (out []durable.Member, _ error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.w.until)) {
		if left := time.Until(s.w.until[name]); left > -20*simLease {
			out = append(out, durable.Member{Node: name, Left: left})
		}
	}
	return out, nil
}

func (s simStore) Known() ([]string, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	return slices.Sorted(maps.Keys(s.w.until)), nil
}

// simKept behaves like a server: it does not send secrets that are no longer needed.
type simKept struct {
	*shares.Ballots
	w *simWorld
}

func (k simKept) All() ([]shares.Ballot, error) {
	all, err := k.Ballots.All()
	return slices.DeleteFunc(all, func(b shares.Ballot) bool { return k.w.needless(b.ID) }), err
}

func (k simKept) Needless(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !k.w.needless(id) })
}

// needless reports what the codelabs' state would report.
func (w *simWorld) needless(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counted[id]
}

func (m *simMachine) start() {
	m.disk.crash()
	m.w.mu.Lock()
	m.w.until[m.name] = time.Now().Add(1000 * time.Hour)
	m.w.mu.Unlock()
	bus, unplug := m.w.net.Node(m.name)
	log := slog.New(slog.DiscardHandler)
	n := &Node{log: log, Cluster: durable.Cluster{Store: simStore{w: m.w, name: m.name}, Bus: bus}}
	n.folder = &Folder{
		try: func() error {
			f, err := m.disk.Open("write-test", os.O_CREATE)
			if err == nil {
				_, err = f.Write(make([]byte, 64))
				err = errors.Join(err, f.Sync())
			}
			return errors.Join(err, m.disk.Remove("write-test"))
		},
		free: func() (uint64, error) { return 1, nil }, log: log, pause: tryAgain, timeout: tryTime, wake: make(chan struct{}, 1),
	}
	n.folder.check()
	ctx, stop := context.WithCancel(context.Background())
	p := &simProcess{simMachine: m, node: n, unplug: unplug, stop: stop}
	must := func(err error) bool {
		if err != nil {
			p.end()
		}
		return err == nil
	}
	var err error
	p.exchange, _ = NewBallotExchange(n, "a secret of all nodes")
	if p.ballots, err = shares.OpenBallots(shares.BallotOptions{Disk: m.disk, Spread: p.exchange.Spread, Failed: n.folder.Failed}); !must(err) {
		return
	}
	if !must(p.exchange.Begin(simKept{p.ballots, m.w})) {
		return
	}
	n.folder.OnMend(func(context.Context) error {
		for _, id := range p.exchange.Needless(p.ballots.Old()) {
			p.ballots.Destroy(id)
		}
		return nil
	})
	p.tokens, _ = NewShareExchange(n, "a secret of all nodes", 6*time.Hour+2*seal.Quarter)
	p.store, err = shares.Open(shares.Options{
		Disk: m.disk, Longest: 6 * time.Hour, Failed: n.folder.Failed, Lacks: p.tokens.Lacks,
		Spread: func(s shares.Share) error {
			_, err := p.tokens.Spread(s)
			return err
		},
	})
	if !must(err) || !must(p.tokens.Begin(p.store)) {
		return
	}
	p.search = NewSearch(p.exchange, func(string) {})
	p.work.Go(func() { n.folder.Watch(ctx) })
	p.work.Go(func() {
		for turn := 0; ctx.Err() == nil; turn++ {
			n.catchUp(ctx)
			if turn%60 == 59 && n.folder.Trouble() == nil { // like SweepBallots
				for _, id := range p.ballots.Old() {
					if m.w.needless(id) {
						p.ballots.Destroy(id)
					}
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
		n.catching.Wait()
	})
	m.up = p
}

// end ends a process. Its lease expires later.
func (p *simProcess) end() {
	p.stop()
	p.work.Wait()
	p.search.End()
	p.exchange.End()
	p.tokens.End()
	if p.ballots != nil {
		p.ballots.Close()
	}
	if p.store != nil {
		_ = p.store.Close()
	}
	p.unplug()
	p.w.mu.Lock()
	p.w.until[p.name] = time.Now().Add(simLease)
	p.w.mu.Unlock()
	p.up = nil
}

func (w *simWorld) any() *simProcess {
	var up []*simProcess
	for _, m := range w.machines {
		if m.up != nil {
			up = append(up, m.up)
		}
	}
	if len(up) == 0 {
		return nil
	}
	return up[w.rng.IntN(len(up))]
}

func (w *simWorld) makeSecret() {
	p := w.any()
	if p == nil {
		return
	}
	var id string
	codelab := fmt.Sprintf("00000000-0000-0000-0000-%012d", w.rng.IntN(4))
	id, keepers, err := p.ballots.Make(codelab)
	if err != nil {
		return
	}
	key := p.ballots.Key(id)
	w.mu.Lock()
	w.made[id] = simMade{key, keepers}
	members := len(w.until)
	w.mu.Unlock()
	if key == nil {
		w.t.Errorf("the created secret does not exist: %s", id)
	}
	disks := 0
	for _, m := range w.machines {
		if m.disk.holds(key) {
			disks++
		}
	}
	if alive := len(keepers); disks < alive || members > 1 && alive < 2 && !w.alone(p.name) {
		w.t.Errorf("%s has the keepers %v, but is on %d disks", id, keepers, disks)
	}
}

// alone reports whether no other node has been a member recently.
func (w *simWorld) alone(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for other, until := range w.until {
		if other != name && time.Until(until) > -20*simLease {
			return false
		}
	}
	return true
}

func (w *simWorld) makeShare() {
	p := w.any()
	if p == nil {
		return
	}
	share, err := p.store.Until(time.Now().Add(time.Duration(1+w.rng.IntN(30)) * time.Minute))
	if err == nil {
		w.mu.Lock()
		w.shares[share.ID()] = share.Ends()
		w.mu.Unlock()
	}
}

// check compares the responses from each node with the oracle.
func (w *simWorld) check() {
	w.mu.Lock()
	made, counted, all := maps.Clone(w.made), maps.Clone(w.counted), maps.Clone(w.shares)
	w.mu.Unlock()
	for _, m := range w.machines {
		if m.up == nil {
			continue
		}
		for id, ends := range all {
			if share, err := m.up.store.Find(id); share == nil && err == nil && time.Now().Before(ends) {
				w.t.Errorf("%s reports a share as expired that lasts %v more", m.name, time.Until(ends))
			}
		}
		for id, x := range made {
			if !counted[id] && m.up.ballots.Key(id) == nil && m.up.search.Lost(id, x.keepers) {
				w.t.Errorf("%s reports %s as lost, kept by %v", m.name, id, x.keepers)
			}
		}
	}
}

func (w *simWorld) step() {
	m := w.machines[w.rng.IntN(len(w.machines))]
	switch w.rng.IntN(12) {
	case 0, 1, 2:
		w.makeSecret()
	case 3, 4:
		w.makeShare()
	case 5:
		w.mu.Lock()
		ids := slices.Sorted(maps.Keys(w.made))
		ids = slices.DeleteFunc(ids, func(id string) bool { return w.counted[id] })
		var id string
		if len(ids) > 0 {
			id = ids[w.rng.IntN(len(ids))]
			w.counted[id] = true
		}
		w.mu.Unlock()
		if p := w.any(); p != nil && id != "" {
			p.ballots.Destroy(id)
		}
	case 6, 7:
		m.disk.set(func(d *simDisk) {
			switch w.rng.IntN(4) {
			case 0, 1:
				d.full = true
			case 2:
				d.eio = true
			case 3:
				d.lame = true
			}
		})
	case 8:
		m.disk.set(func(*simDisk) {})
	case 9:
		if m.up != nil {
			m.up.end()
		}
	case 10:
		if m.up == nil {
			m.start()
		}
	case 11:
		a, b := m.name, w.machines[w.rng.IntN(len(w.machines))].name
		if w.rng.IntN(2) == 0 {
			w.net.Cut(a, b)
		} else {
			w.net.Repair(a, b)
			w.net.Repair(b, a)
		}
	}
	time.Sleep(time.Duration(w.rng.IntN(40)) * time.Second)
	w.check()
}

// heal ends all faults and starts the stopped nodes.
func (w *simWorld) heal() {
	for _, a := range w.machines {
		a.disk.set(func(*simDisk) {})
		for _, b := range w.machines {
			w.net.Repair(a.name, b.name)
		}
	}
	for _, m := range w.machines {
		for m.up == nil {
			m.start()
		}
	}
	time.Sleep(5 * time.Minute)
}

func (w *simWorld) finish() {
	w.heal()
	for _, m := range w.machines {
		if t := m.up.node.Trouble(); t != nil {
			w.t.Errorf("%s stays in trouble: %v", m.name, t)
		}
		if m.up.exchange.Lacks() || m.up.tokens.Lacks() {
			w.t.Errorf("%s still lacks something", m.name)
		}
		for id, x := range w.made {
			switch here := m.up.ballots.Key(id); {
			case !w.counted[id] && !bytes.Equal(here, x.secret):
				w.t.Errorf("%s lacks %s", m.name, id)
			case w.counted[id] && (here != nil || m.disk.holds(x.secret)):
				w.t.Errorf("%s still has %s, which was counted", m.name, id)
			}
		}
		for id, ends := range w.shares {
			if share, err := m.up.store.Find(id); (share != nil) != time.Now().Before(ends) || err != nil {
				w.t.Errorf("%s: a share that ends in %v is %v, %v", m.name, time.Until(ends), share, err)
			}
		}
	}
	// Two nodes that can write are enough to create a secret.
	w.machines[w.rng.IntN(3)].disk.set(func(d *simDisk) { d.full = true })
	for _, m := range w.machines {
		if !m.disk.full {
			if _, _, err := m.up.ballots.Make("00000000-0000-0000-0000-000000000009"); err != nil {
				w.t.Errorf("with one full disk of three, %s cannot create a secret: %v", m.name, err)
			}
		}
	}
	for _, m := range w.machines {
		m.up.end()
	}
}

func TestSecretsSurviveFailingDisks(t *testing.T) {
	seeds := 60
	if os.Getenv("LONG_TESTS") != "" {
		seeds = 2000
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &simWorld{
					t: t, rng: rand.New(rand.NewPCG(uint64(seed), 7)), net: bustest.NewNet(), until: map[string]time.Time{},
					made: map[string]simMade{}, counted: map[string]bool{}, shares: map[seal.ShareID]time.Time{},
				}
				for i := range 3 {
					w.machines = append(w.machines, &simMachine{w: w, name: fmt.Sprint("n", i+1), disk: newSimDisk()})
				}
				w.heal()
				for range 40 {
					w.step()
				}
				w.finish()
			})
		})
	}
}
