package shares

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"atelier/actors/token/seal"
)

// ailing is a folder in which a given step fails, and a number of steps after it. A failed write
// writes half of its bytes.
type ailing struct {
	folder
	mu           sync.Mutex // failures are swept on another goroutine
	after, times int        // guarded by mu
	err          error
}

func (d *ailing) heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.times = 0
}

func (d *ailing) step() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.after--; d.after >= 0 || d.times == 0 {
		return nil
	}
	d.times--
	return d.err
}

func (d *ailing) Open(name string, flag int) (File, error) {
	// A file can be created even if there is no space for its contents.
	f, err := d.folder.Open(name, flag)
	if err != nil {
		return nil, err
	}
	if err := d.step(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return &ailingFile{File: f, d: d}, nil
}

func (d *ailing) Sync() error { return errors.Join(d.step(), d.folder.Sync()) }

type ailingFile struct {
	File
	d *ailing
}

func (f *ailingFile) Write(b []byte) (int, error) {
	if err := f.d.step(); err != nil {
		n, _ := f.File.Write(b[:len(b)/2])
		return n, err
	}
	return f.File.Write(b)
}

func (f *ailingFile) Sync() error { return errors.Join(f.d.step(), f.File.Sync()) }

// eachFault injects a full disk and a broken disk at each step of storing a secret. The fault lasts
// for one or more steps, or until heal is called.
func eachFault(t *testing.T, try func(t *testing.T, d *ailing, heal func())) {
	for _, fault := range []error{syscall.ENOSPC, syscall.EIO} {
		for after := range 9 {
			for _, times := range []int{1, 2, 1000} {
				t.Run(fmt.Sprintf("%v at step %d, %d times", fault, after, times), func(t *testing.T) {
					d := &ailing{folder: folder(t.TempDir()), after: after, times: times, err: fault}
					try(t, d, d.heal)
				})
			}
		}
	}
}

// In an earlier version, an empty file left by a full disk was mistaken for the secret, and the
// votes sealed under it were lost.
func TestAnAcceptedSecretIsOnTheDisk(t *testing.T) {
	in := Ballot{ID: aCodelab + ".0123456789abcdef", Secret: bytes.Repeat([]byte{7}, ballotBytes)}
	eachFault(t, func(t *testing.T, d *ailing, heal func()) {
		b := openBallots(t, BallotOptions{Dir: string(d.folder), Disk: healthyList{d}})
		onDisk := func() []byte { got, _ := os.ReadFile(filepath.Join(string(d.folder), ballotPrefix+in.ID)); return got }
		for range 3 {
			if err := b.Take(in); err == nil && !bytes.Equal(onDisk(), in.Secret) {
				t.Fatalf("the secret was accepted, but the file contains %x", onDisk())
			} else if err != nil && b.Key(in.ID) != nil {
				t.Fatal("the secret was refused, but is in use")
			}
		}
		heal()
		if err := b.Take(in); err != nil {
			t.Fatalf("after the disk works again: %v", err)
		}
		b.Old() // sweeps the doomed files
		b.Close()
		again := openBallots(t, BallotOptions{Dir: string(d.folder)})
		defer again.Close()
		if !bytes.Equal(again.Key(in.ID), in.Secret) {
			t.Errorf("after a restart, the secret is %x, the file %x", again.Key(in.ID), onDisk())
		}
	})
}

// healthyList has no faults during the start, because the start only lists files.
type healthyList struct{ *ailing }

func (d healthyList) List() ([]string, error) { return d.folder.List() }

// In an earlier version, after a full disk each later attempt failed because of the first attempt's
// file. No token could be created on any node.
func TestAnAcceptedShareIsOnTheDisk(t *testing.T) {
	in := Share{Ends: seal.QuarterEnd(time.Now().Add(time.Minute)), Secret: bytes.Repeat([]byte{7}, seal.ShareBytes)}
	eachFault(t, func(t *testing.T, d *ailing, heal func()) {
		s, err := Open(Options{Dir: string(d.folder), Longest: time.Hour, Spread: func(Share) error { return nil }, Disk: healthyList{d}})
		if err != nil {
			t.Fatal(err)
		}
		take := func() error { return s.Take(Share{in.Ends, slices.Clone(in.Secret)}) }
		for range 3 {
			err := take()
			all, _ := os.ReadDir(string(d.folder))
			if err == nil {
				if got, _ := os.ReadFile(filepath.Join(string(d.folder), all[0].Name())); !bytes.Equal(got, in.Secret) {
					t.Fatalf("the share was accepted, but the file contains %x", got)
				}
			}
		}
		heal()
		if err := take(); err != nil {
			t.Fatalf("after the disk works again: %v", err)
		}
		s.sweep()
		_ = s.Close()
		again := spread(t, string(d.folder), func(Share) error { return nil })
		if all, err := again.All(); err != nil || len(all) != 1 || !bytes.Equal(all[0].Secret, in.Secret) {
			t.Errorf("after a restart, the shares are %v, %v", all, err)
		}
	})
}

// A destroyed secret stays destroyed even if another node that has not noticed the destruction
// sends it again.
func TestDestroyedSecretsStayDestroyed(t *testing.T) {
	dir := t.TempDir()
	b := openBallots(t, BallotOptions{Dir: dir})
	id, _, err := b.Make(aCodelab)
	if err != nil {
		t.Fatal(err)
	}
	in := inUse(b)[0]
	b.Destroy(id)
	if err := b.Take(in); err != nil {
		t.Fatal(err)
	}
	never := Ballot{ID: aCodelab + ".0123456789abcdef", Secret: bytes.Repeat([]byte{7}, ballotBytes)}
	b.Destroy(never.ID) // the poll was closed before the secret arrived
	if err := b.Take(never); err != nil {
		t.Fatal(err)
	}
	b.background.Wait()
	if left, _ := os.ReadDir(dir); len(left) != 0 || len(inUse(b)) != 0 {
		t.Errorf("%d secrets are in use, the files are %v", len(inUse(b)), left)
	}
	b.Close()
}

// In an earlier version, a node that restarted every minute never found an old secret.
func TestTheAgeOfASecretSurvivesRestarts(t *testing.T) {
	dir, ahead := t.TempDir(), time.Duration(0)
	now := func() time.Time { return time.Now().Add(ahead) }
	b := openBallots(t, BallotOptions{Dir: dir, now: now})
	id, _, err := b.Make(aCodelab)
	if err != nil {
		t.Fatal(err)
	}
	for minute := range 10 {
		b.Close()
		ahead += time.Minute
		b = openBallots(t, BallotOptions{Dir: dir, now: now})
		for _, old := range b.Old() {
			b.Destroy(old)
		}
		b.background.Wait()
		left, _ := os.ReadDir(dir)
		if there := slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), id) }); there != (minute < 1) {
			t.Errorf("after %d starts the secret exists: %v", minute+1, there)
		}
	}
	b.Close()
}

// A process must sync a secret that it finds at startup, because the previous process may have
// failed to sync it.
func TestAFoundSecretIsAcceptedOnlyOnceItIsSynced(t *testing.T) {
	dir := t.TempDir()
	b := openBallots(t, BallotOptions{Dir: dir})
	if _, _, err := b.Make(aCodelab); err != nil {
		t.Fatal(err)
	}
	in := inUse(b)[0]
	b.Close()
	d := &ailing{folder: folder(dir), err: syscall.EIO}
	again := openBallots(t, BallotOptions{Dir: dir, Disk: healthyList{d}})
	defer again.Close()
	d.times, d.after = 1, 2 // the sync of the file
	if err := again.Take(in); !errors.Is(err, syscall.EIO) || again.Key(in.ID) == nil {
		t.Errorf("Take of a secret that was not synced returned %v, want EIO", err)
	}
	again.Old() // sweeps, and spares secrets in use
	if left, _ := d.List(); len(left) != 1 {
		t.Error("the secret in use was destroyed")
	}
	if err := again.Take(in); err != nil {
		t.Error(err)
	}
}

// A secret that is destroyed while it is being stored is not in use afterwards.
func TestASecretDestroyedWhileItIsStoredIsNotUsed(t *testing.T) {
	in := Ballot{ID: aCodelab + ".0123456789abcdef", Secret: bytes.Repeat([]byte{7}, ballotBytes)}
	d := &meanwhile{folder: folder(t.TempDir())}
	b := openBallots(t, BallotOptions{Dir: string(d.folder), Disk: d})
	d.do = func() { b.Destroy(in.ID) }
	x := &ballotSecret{secret: [ballotBytes]byte(in.Secret), made: time.Now()}
	if err := b.keep(in.ID, x); err != nil || b.Key(in.ID) != nil {
		t.Errorf("the destroyed secret is in use: %v", err)
	}
	if x.secret != [ballotBytes]byte{} {
		t.Error("the bytes of the secret remain in memory")
	}
	b.background.Wait()
	if left, _ := d.List(); len(left) != 0 {
		t.Errorf("files left behind: %v", left)
	}
	d.do = func() { t.Error("the destroyed secret is written again") }
	if err := b.Take(in); err != nil {
		t.Error(err)
	}
	b.Close()
}

// meanwhile is a folder that calls a function at the first sync.
type meanwhile struct {
	folder
	do func()
}

func (d *meanwhile) Sync() error {
	if do := d.do; do != nil {
		d.do = nil
		do()
	}
	return d.folder.Sync()
}

// forgetful is a folder that reports a successful sync but stores other bytes.
type forgetful struct{ folder }

func (d forgetful) Sync() error {
	names, err := d.folder.List()
	for _, name := range names {
		path := filepath.Join(string(d.folder), name)
		b, failed := os.ReadFile(path)
		err = errors.Join(err, failed)
		if len(b) > 0 {
			b[len(b)-1] ^= 1
		}
		err = errors.Join(err, os.WriteFile(path, b, 0o600))
	}
	return err
}

// A secret that reads back differently is not used.
func TestASecretThatReadsBackDifferentlyIsNotUsed(t *testing.T) {
	dir := folder(t.TempDir())
	b := openBallots(t, BallotOptions{Dir: string(dir), Disk: forgetful{dir}})
	defer b.Close()
	if id, _, err := b.Make(aCodelab); !errors.Is(err, ErrDisk) || b.Key(id) != nil {
		t.Errorf("%v was made from differing bytes: %v, want ErrDisk", id, err)
	}
}
