package shares

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const aCodelab = "019a3f60-11d0-7e21-b2a3-4c5d6e7f8003"

func openBallots(t *testing.T, o BallotOptions) *Ballots {
	t.Helper()
	b, err := OpenBallots(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func inUse(b *Ballots) []Ballot {
	all, _ := b.All()
	return all
}

func TestASecretOfAPollSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	b := openBallots(t, BallotOptions{Dir: dir})
	id, _, err := b.Make(aCodelab)
	if err != nil || !strings.HasPrefix(id, aCodelab) {
		t.Fatalf("Make returned the id %q, %v", id, err)
	}
	key := b.Key(id)
	b.Close()
	if b.Key(id) != nil {
		t.Error("the secret is in memory after Close")
	}
	again := openBallots(t, BallotOptions{Dir: dir})
	if got := again.Key(id); len(key) != 32 || !bytes.Equal(got, key) {
		t.Errorf("after the restart, the secret has %d bytes", len(got))
	}
	if again.Key(aCodelab+".0000000000000000") != nil || again.Key("") != nil {
		t.Error("an unknown secret is found")
	}
	if _, _, err := again.Make("../elsewhere"); err == nil {
		t.Error("a path was accepted as a codelab")
	}
}

// The file is overwritten before its name is removed.
func TestADestroyedSecretIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	b := openBallots(t, BallotOptions{Dir: dir})
	id, _, err := b.Make(aCodelab)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "the same file")
	if err := os.Link(filepath.Join(dir, ballotPrefix+id), link); err != nil {
		t.Fatal(err)
	}
	b.Destroy(id)
	if b.Key(id) != nil {
		t.Error("the destroyed secret is still in use")
	}
	b.Destroy(id)
	b.Close()
	content, err := os.ReadFile(link)
	if err != nil || !bytes.Equal(content, make([]byte, 32)) {
		t.Errorf("the file contains %x, %v", content, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("files left in the folder: %v", left)
	}
}

// The next start finishes an interrupted destruction.
func TestAnInterruptedDestructionIsFinished(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string][]byte{"0000000000000001": make([]byte, 32), "0000000000000002": []byte("short")} {
		if err := os.WriteFile(filepath.Join(dir, ballotPrefix+aCodelab+"."+name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := openBallots(t, BallotOptions{Dir: dir})
	defer b.Close()
	if left, _ := os.ReadDir(dir); len(left) != 0 || len(inUse(b)) != 0 {
		t.Errorf("files left in the folder: %v", left)
	}
}

// A sweep must not destroy a secret that a command can still use.
func TestASecretExpiresOnlyOnceNoCommandCanUseIt(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := openBallots(t, BallotOptions{Dir: t.TempDir(), now: func() time.Time { return now }})
	defer b.Close()
	id, _, err := b.Make(aCodelab)
	if err != nil {
		t.Fatal(err)
	}
	if now = now.Add(ballotUse); len(b.Old()) != 0 {
		t.Error("the secret is old too early")
	}
	if now = now.Add(time.Second); len(b.Old()) != 1 || b.Old()[0] != id {
		t.Error("the secret never becomes old")
	}
}

// If the clock was set back after a secret was made, the secret still expires. Its age counts from
// the start of the process at the latest.
func TestASecretWithAFutureTimeStillExpires(t *testing.T) {
	dir, now := t.TempDir(), time.Unix(1_800_000_000, 0)
	b := openBallots(t, BallotOptions{Dir: dir, now: func() time.Time { return now }})
	id, _, err := b.Make(aCodelab)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	ahead := now.AddDate(1, 0, 0)
	if err := os.Chtimes(filepath.Join(dir, ballotPrefix+id), ahead, ahead); err != nil {
		t.Fatal(err)
	}
	b = openBallots(t, BallotOptions{Dir: dir, now: func() time.Time { return now }})
	defer b.Close()
	if now = now.Add(ballotUse); len(b.Old()) != 0 {
		t.Error("the secret is old too early")
	}
	if now = now.Add(time.Second); len(b.Old()) != 1 || b.Old()[0] != id {
		t.Error("the secret never becomes old")
	}
}

// A secret that another node sends again keeps its age, even after a restart. Otherwise the secret
// would never be destroyed while nodes join and leave.
func TestASecretThatIsSentAgainKeepsItsAge(t *testing.T) {
	dir, now := t.TempDir(), time.Unix(1_800_000_000, 0)
	open := func() *Ballots {
		return openBallots(t, BallotOptions{Dir: dir, now: func() time.Time { return now }})
	}
	b := open()
	id, _, err := b.Make(aCodelab)
	if err != nil {
		t.Fatal(err)
	}
	sent := Ballot{id, b.Key(id)}
	for range 2 {
		b.Close()
		if err := os.Chtimes(filepath.Join(dir, ballotPrefix+id), now, now); err != nil {
			t.Fatal(err)
		}
		b = open()
		now = now.Add(ballotUse / 2)
		for range 2 {
			if err := b.Take(sent); err != nil {
				t.Fatal(err)
			}
		}
		if now = now.Add(ballotUse / 2); len(b.Old()) != 0 {
			t.Error("the secret is old too early")
		}
		if now = now.Add(time.Second); len(b.Old()) != 1 {
			t.Error("the secret became as young as when it was sent again")
		}
	}
	b.Close()
}

// A secret that cannot be sent to the other nodes is not used.
func TestASecretIsUsedOnlyOnceOtherNodesHaveIt(t *testing.T) {
	other := openBallots(t, BallotOptions{Dir: t.TempDir()})
	defer other.Close()
	var fail error
	b := openBallots(t, BallotOptions{Dir: t.TempDir(), Spread: func(x Ballot) ([]string, error) {
		if fail != nil {
			return nil, fail
		}
		return []string{"here", "there"}, other.Take(x)
	}})
	defer b.Close()
	id, keepers, err := b.Make(aCodelab)
	if err != nil || !bytes.Equal(other.Key(id), b.Key(id)) || !slices.Equal(keepers, []string{"here", "there"}) {
		t.Errorf("the other node does not have the secret: %v", err)
	}
	for _, x := range inUse(b) {
		if err := other.Take(x); err != nil {
			t.Errorf("receiving the secret again: %v", err)
		}
	}
	if err := other.Take(Ballot{ID: "../../etc/passwd", Secret: make([]byte, 32)}); err == nil {
		t.Error("a path was accepted as an id")
	}
	fail = os.ErrDeadlineExceeded
	if _, _, err := b.Make(aCodelab); err == nil || len(inUse(b)) != 1 {
		t.Errorf("a secret that the other nodes lack is used: %v", err)
	}
}

// stubborn is a folder in which some calls fail.
type stubborn struct {
	folder
	remove, sync error
}

func (d *stubborn) Remove(name string) error {
	if d.remove != nil {
		return d.remove
	}
	return d.folder.Remove(name)
}

func (d *stubborn) Sync() error {
	if d.sync != nil {
		return d.sync
	}
	return d.folder.Sync()
}

// A secret stays recorded until its file is removed durably. In the meantime the secret is not used
// as a key.
func TestFailedDestructionIsRetried(t *testing.T) {
	broken := errors.New("the disk is broken")
	for name, d := range map[string]*stubborn{"remove": {remove: broken}, "sync": {sync: broken}} {
		d.folder = folder(t.TempDir())
		remove, sync := d.remove, d.sync
		d.remove, d.sync = nil, nil
		b := openBallots(t, BallotOptions{Dir: string(d.folder), Disk: d})
		id, _, err := b.Make(aCodelab)
		if err != nil {
			t.Fatal(err)
		}
		d.remove, d.sync = remove, sync
		b.Destroy(id)
		b.background.Wait()
		if !b.doomed[id] || b.Key(id) != nil || len(inUse(b)) != 0 {
			t.Errorf("%s: to be destroyed are %v, the key is %x", name, b.doomed, b.Key(id))
		}
		d.remove, d.sync = nil, nil
		b.Old()
		if left, _ := d.List(); len(b.doomed) != 0 || len(left) != 0 {
			t.Errorf("%s: files left are %v, to be destroyed are %v", name, left, b.doomed)
		}
		b.Close()
	}
}

// A secret that others can read is not used. A secret that is too short or empty is destroyed.
// Other files in the folder stay.
func TestADamagedSecretIsNotUsed(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), bytes.Repeat([]byte{7}, size), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(ballotPrefix+aCodelab+".0000000000000001", 0, 0o600)
	write(ballotPrefix+aCodelab+".0000000000000002", 31, 0o600)
	write(ballotPrefix+aCodelab+".0000000000000003", 4096, 0o600)
	write(ballotPrefix+"notes", 5, 0o600)
	write("pin.key", 5, 0o600)
	if err := os.Mkdir(filepath.Join(dir, ballotPrefix+aCodelab+".0000000000000004"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := openBallots(t, BallotOptions{Dir: dir})
	if got := b.Key(aCodelab + ".0000000000000003"); len(got) != 32 {
		t.Errorf("the key of too long a file has %d bytes", len(got))
	}
	if all := inUse(b); len(all) != 1 {
		t.Errorf("the secrets in use are %v", all)
	}
	if left, _ := os.ReadDir(dir); len(left) != 4 {
		t.Errorf("the files are %v, want 4", left)
	}
	b.Close()
	write(ballotPrefix+aCodelab+".0000000000000005", 32, 0o644)
	if _, err := OpenBallots(BallotOptions{Dir: dir}); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a secret that others can read: %v", err)
	}
}

// The bytes of a destroyed secret are wiped, so that no later core dump or swapped page contains
// them.
func TestADestroyedSecretIsWipedFromMemory(t *testing.T) {
	b := openBallots(t, BallotOptions{Dir: t.TempDir()})
	id, _, err := b.Make(aCodelab)
	if err != nil {
		t.Fatal(err)
	}
	x := b.byID[id]
	b.Destroy(id)
	if x.secret != [ballotBytes]byte{} {
		t.Error("the bytes of the secret remain in memory")
	}
	if _, there := b.Find(id); there || b.Key(id) != nil || len(inUse(b)) > 0 {
		t.Error("the destroyed secret is still in use")
	}
	if id, _, err = b.Make(aCodelab); err != nil {
		t.Fatal(err)
	}
	x = b.byID[id]
	if b.Close(); x.secret != [ballotBytes]byte{} {
		t.Error("the bytes of another secret remain in memory after Close")
	}
}

// An error of the folder is reported, because the node must then stop.
func TestAnErrorOfTheFolderOfBallotsIsReported(t *testing.T) {
	reported := error(nil)
	d := &ailing{folder: folder(t.TempDir()), err: errors.New("the disk fails")}
	b := openBallots(t, BallotOptions{Disk: d, Failed: func(err error) { reported = err }})
	d.times = 1
	if _, _, err := b.Make(aCodelab); err == nil || reported == nil {
		t.Errorf("Make returned %v, the reported error is %v", err, reported)
	}
}

// Destroying a secret does not change a copy made for another node.
func TestACopyOfASecretSurvivesItsDestruction(t *testing.T) {
	b := openBallots(t, BallotOptions{Dir: t.TempDir()})
	defer b.Close()
	id, _, err := b.Make(aCodelab)
	if err != nil {
		t.Fatal(err)
	}
	want := b.Key(id)
	all, err := b.All()
	one, ok := b.Find(id)
	b.Destroy(id)
	if err != nil || !ok || len(all) != 1 || !bytes.Equal(all[0].Secret, want) || !bytes.Equal(one.Secret, want) {
		t.Errorf("the copies are %v and %v, want %v: %v", all, one, want, err)
	}
}

// The list of destroyed secrets is bounded. When it is full, the oldest secret is forgotten.
func TestTheListOfDestroyedSecretsIsBounded(t *testing.T) {
	b := openBallots(t, BallotOptions{Dir: t.TempDir()})
	defer b.Close()
	for i := range maxGone + 3 {
		b.Destroy(fmt.Sprint(i))
	}
	if len(b.gone) != maxGone || b.gone[0] != "3" {
		t.Errorf("%d destroyed secrets are remembered, the first is %s", len(b.gone), b.gone[0])
	}
}
