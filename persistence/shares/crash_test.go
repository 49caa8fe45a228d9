package shares

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"atelier/actors/token/seal"
)

// fragile is a disk that loses unsynced changes in a crash. After a crash, each file and each name
// is in its state at the last sync, or at any later moment.
type fragile struct {
	rt      *rapid.T
	names   map[string]*inode
	synced  map[string]*inode
	left    int // steps until the crash
	crashed bool
}

type inode struct{ content, synced []byte }

type crash struct{}

// step is a moment at which the power can fail.
func (d *fragile) step() {
	if d.left--; d.left < 0 {
		d.crashed = true
		panic(crash{})
	}
}

// restart turns the disk into its state after the crash.
func (d *fragile) restart(steps int) {
	before := d.names
	d.names = map[string]*inode{}
	all := maps.Clone(d.synced)
	maps.Copy(all, before)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		// Files are never renamed, so each name has one inode.
		_, was := d.synced[name]
		_, is := before[name]
		if was && is || rapid.Bool().Draw(d.rt, "the name "+name+" is kept") {
			d.names[name] = all[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		if n := d.names[name]; !bytes.Equal(n.content, n.synced) {
			// The file size can be on disk without the bytes.
			switch rapid.IntRange(0, 2).Draw(d.rt, "which part of its content") {
			case 0:
				n.content = bytes.Clone(n.synced)
			case 1:
				n.content = make([]byte, len(n.content))
			}
			n.synced = bytes.Clone(n.content)
		}
	}
	d.synced = maps.Clone(d.names)
	d.left, d.crashed = steps, false
}

func (d *fragile) List() ([]string, error) { return slices.Sorted(maps.Keys(d.names)), nil }

func (d *fragile) Remove(name string) error {
	d.step()
	if d.names[name] == nil {
		return fs.ErrNotExist
	}
	delete(d.names, name)
	return nil
}

func (d *fragile) Sync() error {
	d.step()
	d.synced = maps.Clone(d.names)
	return nil
}

func (d *fragile) Open(name string, flag int) (File, error) {
	d.step()
	n := d.names[name]
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, fs.ErrNotExist
	case n != nil && flag&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case n == nil:
		n = &inode{}
		d.names[name] = n
	}
	return &fragileFile{d: d, inode: n}, nil
}

type fragileFile struct {
	fs.FileInfo
	d *fragile
	*inode
	at int
}

func (f *fragileFile) Read(p []byte) (int, error) {
	if f.at == len(f.content) {
		return 0, io.EOF
	}
	n := copy(p, f.content[f.at:])
	f.at += n
	return n, nil
}

func (f *fragileFile) Write(p []byte) (int, error) {
	f.d.step()
	f.content = slices.Concat(f.content[:f.at], p, f.content[min(f.at+len(p), len(f.content)):])
	f.at += len(p)
	return len(p), nil
}

func (f *fragileFile) Sync() error {
	f.d.step()
	f.synced = bytes.Clone(f.content)
	return nil
}

func (f *fragileFile) Close() error               { return nil }
func (f *fragileFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *fragileFile) Size() int64                { return int64(len(f.content)) }
func (f *fragileFile) Mode() fs.FileMode          { return 0o600 }

// TestCrashesNeitherLoseLiveNorKeepExpiredShares cuts the power at any step of creating and
// destroying shares. A share that Until returned is found until its quarter of an hour ends. Once a
// later sweep completes, the secret is nowhere on the disk, no matter what a crash restores.
func TestCrashesNeitherLoseLiveNorKeepExpiredShares(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		times := &times{clock: noon}
		d := &fragile{rt: rt, names: map[string]*inode{}, synced: map[string]*inode{}, left: rapid.IntRange(0, 60).Draw(rt, "steps")}
		every := map[*inode]bool{} // all inodes that ever existed
		returned := map[seal.ShareID]time.Time{}
		secrets := map[seal.ShareID][]byte{}
		var s *Store
		// untilCrash runs fn, and reports whether it completed.
		untilCrash := func(fn func()) (through bool) {
			defer func() {
				for _, n := range d.names {
					every[n] = true
				}
				if p := recover(); p != nil {
					if _, ours := p.(crash); !ours {
						panic(p)
					}
				}
			}()
			fn()
			return true
		}
		open := func() {
			for !untilCrash(func() {
				// Unlike Open, this literal starts no other goroutine.
				s = &Store{
					opts: Options{Longest: 6 * time.Hour, Now: times.now, Uptime: times.up, Disk: d}, log: discard,
					byID: map[seal.ShareID]*held{}, byEnd: map[int64]*held{}, doomed: map[string]bool{},
				}
				if err := s.load(); err != nil {
					rt.Fatal(err)
				}
				s.sweep()
			}) {
				d.restart(rapid.IntRange(0, 60).Draw(rt, "steps"))
			}
		}
		check := func() {
			for id, ends := range returned {
				if live := times.now().Before(ends); live != (s.found(id) != nil) {
					rt.Fatalf("at %v the share until %v is found: %v", times.now(), ends, !live)
				}
			}
		}
		open()
		for range rapid.IntRange(1, 30).Draw(rt, "operations") {
			through := true
			switch rapid.IntRange(0, 3).Draw(rt, "operation") {
			case 0, 1:
				end := times.now().Add(time.Duration(rapid.IntRange(1, 60).Draw(rt, "minutes")) * time.Minute)
				through = untilCrash(func() {
					share, err := s.Until(end)
					if err != nil {
						rt.Fatal(err)
					}
					returned[share.ID()] = share.Ends()
					secrets[share.ID()] = bytes.Clone(d.names[fileName(share)].content)
				})
			case 2:
				times.pass(time.Duration(rapid.IntRange(1, 20).Draw(rt, "minutes")) * time.Minute)
				through = untilCrash(s.sweep)
			case 3:
				through = false // the power fails between two operations
			}
			if !through {
				d.restart(rapid.IntRange(0, 60).Draw(rt, "steps"))
				open()
			}
			check()
		}
		// One complete sweep runs, followed by any possible crash.
		times.pass(2 * time.Hour)
		d.left = 1 << 20
		s.sweep()
		d.restart(1 << 20)
		for _, n := range d.names {
			every[n] = true
		}
		for n := range every {
			for id, secret := range secrets {
				if len(secret) == seal.ShareBytes && (bytes.Contains(n.synced, secret) || bytes.Contains(n.content, secret)) {
					rt.Fatalf("the disk still contains the secret of %v", id)
				}
			}
		}
		if len(d.names) != 0 {
			rt.Fatalf("%d files are left", len(d.names))
		}
	})
}
