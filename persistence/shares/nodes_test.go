package shares

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
)

// spread opens a store that sends its shares to other nodes.
func spread(t *testing.T, dir string, to func(Share) error) *Store {
	t.Helper()
	s, err := Open(Options{Dir: dir, Longest: time.Hour, Spread: to})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Every node has a share before anything is sealed under it. A node that lacks a share gets it from
// another node.
func TestAShareIsUsedOnlyOnceAllNodesHaveIt(t *testing.T) {
	dirs := [2]string{t.TempDir(), t.TempDir()}
	var nodes [2]*Store
	for i := range nodes {
		nodes[i] = spread(t, dirs[i], func(s Share) error { return nodes[1-i].Take(Share{s.Ends, slices.Clone(s.Secret)}) })
	}
	end := time.Now().Add(10 * time.Minute)
	var made [2]*seal.Share
	for i := range nodes {
		var err error
		if made[i], err = nodes[i].Until(end); err != nil {
			t.Fatal(err)
		}
		if nodes[1-i].found(made[i].ID()) == nil {
			t.Fatalf("node %d lacks a share of the other", 1-i)
		}
	}
	if made[0].ID() == made[1].ID() {
		t.Error("a node uses a share without knowing whether all nodes have it")
	}
	all, err := nodes[0].All()
	if err != nil || len(all) != 2 {
		t.Fatalf("%d shares, %v", len(all), err)
	}
	third := spread(t, t.TempDir(), func(Share) error { return nil })
	for _, s := range all {
		for range 2 {
			if err := third.Take(Share{s.Ends, slices.Clone(s.Secret)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range made {
		if third.found(made[i].ID()) == nil {
			t.Errorf("share %d did not reach the third node", i)
		}
	}

	// After a restart the shares exist, but nothing new is sealed under them.
	if err := nodes[0].Close(); err != nil {
		t.Fatal(err)
	}
	again := spread(t, dirs[0], func(Share) error { return nil })
	if again.found(made[1].ID()) == nil {
		t.Error("a share of another node is gone after a restart")
	}
	if s, err := again.Until(end); err != nil || s.ID() == made[0].ID() || s.ID() == made[1].ID() {
		t.Errorf("a share from before the restart is used: %v", err)
	}
}

// A share that did not reach all nodes is not used.
func TestAShareThatDoesNotArriveIsNotUsed(t *testing.T) {
	away := errors.New("away")
	var s *Store
	var share *seal.Share
	s = spread(t, t.TempDir(), func(Share) error {
		s.mu.RLock()
		defer s.mu.RUnlock()
		share = s.spreading.share
		return away
	})
	if _, err := s.Until(time.Now().Add(time.Minute)); !errors.Is(err, away) {
		t.Errorf("Until returned %v", err)
	}
	if all, err := s.All(); err != nil || len(all) != 0 {
		t.Errorf("%d shares are stored, %v", len(all), err)
	}
	if !over(t, share) {
		t.Error("the bytes of the share remain in memory")
	}
}

func TestInvalidSharesOfOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	s := spread(t, dir, func(Share) error { return nil })
	secret := make([]byte, seal.ShareBytes)
	secret[0] = 1
	end := seal.QuarterEnd(time.Now().Add(time.Minute))
	for name, bad := range map[string]Share{
		"short": {end, secret[:5]}, "not a quarter's end": {end.Add(time.Second), secret}, "far": {end.Add(100 * seal.Quarter), secret},
	} {
		if err := s.Take(bad); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if err := s.Take(Share{end.Add(-100 * seal.Quarter), secret}); err != nil {
		t.Errorf("an expired share: %v", err)
	}
	if all, _ := s.All(); len(all) != 0 {
		t.Errorf("%d shares are stored", len(all))
	}
	// An expired share must not return to the disk, even briefly.
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("%d files are stored, %v", len(files), err)
	}
}

// A node that starts while a share is being sent is not among its receivers. It gets the share when
// it requests all shares.
func TestANodeThatStartsMeanwhileGetsTheShare(t *testing.T) {
	third := spread(t, t.TempDir(), func(Share) error { return nil })
	var s *Store
	s = spread(t, t.TempDir(), func(Share) error {
		all, err := s.All()
		for _, other := range all {
			err = errors.Join(err, third.Take(other))
		}
		return err
	})
	made, err := s.Until(time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if third.found(made.ID()) == nil {
		t.Error("the third node lacks the share")
	}
	if all, err := s.All(); err != nil || len(all) != 1 {
		t.Errorf("%d shares, %v", len(all), err)
	}
}

// While a node can lack shares of other nodes, it reports no missing share as expired. Otherwise a
// valid token would count as expired.
func TestANodeWithoutSharesReportsNoneAsExpired(t *testing.T) {
	lacks := true
	s, err := Open(Options{Dir: t.TempDir(), Longest: time.Hour, Lacks: func() bool { return lacks }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	share, err := s.Until(time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Find(share.ID()); got != share || err != nil {
		t.Errorf("a share of this node: %v, %v", got, err)
	}
	if _, err := s.Find(seal.ShareID{1}); !errors.Is(err, durable.ErrUnavailable) {
		t.Errorf("a share that another node may have: %v, want ErrUnavailable", err)
	}
	lacks = false
	if got, err := s.Find(seal.ShareID{1}); got != nil || err != nil {
		t.Errorf("a share that no node has: %v, %v", got, err)
	}
}

// A node failed to send its share to all nodes, while another node had received it and sent it
// back. In an earlier version, the first node then destroyed the file. No node could read all
// shares of the first node, or start while the first node ran.
func TestAShareThatIsReceivedAgainKeepsItsFile(t *testing.T) {
	var s *Store
	s = spread(t, t.TempDir(), func(made Share) error {
		if err := s.Take(made); err != nil { // simulates a node that has received the share and sends it back
			t.Error(err)
		}
		return errors.New("one node does not answer")
	})
	if _, err := s.Until(time.Now().Add(time.Minute)); err == nil {
		t.Fatal("a share was made although one node does not answer")
	}
	s.sweep()
	if all, err := s.All(); err != nil || len(all) != 1 {
		t.Errorf("the shares are %v, %v", all, err)
	}
}

// An operator can count the shares still in use from the names of their files.
func TestSharesInAFolderAreCounted(t *testing.T) {
	dir := t.TempDir()
	s := spread(t, dir, func(Share) error { return nil })
	now := time.Now()
	share, err := s.Until(now.Add(10 * time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"ballots-x", "README", "share-x"} {
		if err := os.WriteFile(filepath.Join(dir, other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for at, want := range map[time.Time]int{now: 1, share.Ends().Add(-time.Nanosecond): 1, share.Ends(): 0} {
		if n, err := Count(dir, at); n != want || err != nil {
			t.Errorf("at %v there are %d shares, want %d, %v", at, n, want, err)
		}
	}
	if n, err := Count(filepath.Join(dir, "none"), now); n != 0 || err != nil {
		t.Errorf("in a missing folder, there are %d shares, %v", n, err)
	}
}
