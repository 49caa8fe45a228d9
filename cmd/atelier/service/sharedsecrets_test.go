package service

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/actors/codelab"
	"atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/actors/participant"
	"atelier/actors/people"
	"atelier/actors/settings"
	"atelier/actors/token/seal"
	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/nodes"
	"atelier/persistence/postgres/postgrestest"
	"atelier/persistence/secrets"
)

const clusterSecret = "a secret of this test that is long enough: 0123456789"

// aNode returns the configuration of a node with its own folder. Only the database, the files and
// the secret are set by hand.
func aNode(t *testing.T, name, dsn, files string) config.Config {
	t.Helper()
	cfg := onPostgres(t, dsn)
	cfg.Files.Store = "folder:" + files
	cfg.Cluster.Enabled, cfg.Cluster.Node, cfg.Cluster.Listen, cfg.Cluster.Secret = true, name, bustest.Addresses(t, 1)[0], clusterSecret
	if _, err := cfg.Check(); err != nil {
		t.Fatal(err)
	}
	return cfg
}

func openNode(t *testing.T, cfg config.Config) (*Core, error) {
	t.Helper()
	c, err := OpenCore(cfg, Hooks{}, onBusyMachine, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Cleanup(func() { _ = c.Close(context.Background()) })
	}
	return c, err
}

var allShared = []string{tokenKeyFile, pinKeyFile, settingsKeyFile, sessionKeyFile, passwordFile}

func secretsOf(t *testing.T, cfg config.Config) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range allShared {
		b, err := os.ReadFile(secretFile(cfg, name))
		if err != nil || len(b) == 0 {
			t.Errorf("reading the secret %s: %v", name, err)
		}
		all[name] = string(b)
	}
	return all
}

func sameSecrets(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("the secret %s differs", name)
		}
	}
}

// Nodes that start at the same moment with empty folders find each other. They use the same
// secrets, which one of them has created.
func TestNodesWithEmptyFoldersAgreeOnTheirSecrets(t *testing.T) {
	dsn, files := postgrestest.Database(t), t.TempDir()
	var all []config.Config
	for _, name := range []string{"a", "b", "c"} {
		all = append(all, aNode(t, name, dsn, files))
	}
	cores := make([]*Core, len(all))
	var starting sync.WaitGroup
	for i, cfg := range all {
		starting.Go(func() {
			var err error
			if cores[i], err = OpenCore(cfg, Hooks{}, onBusyMachine, slog.New(slog.DiscardHandler)); err != nil {
				t.Errorf("opening node %s: %v", cfg.Cluster.Node, err)
			}
		})
	}
	starting.Wait()
	made := 0
	for _, c := range cores {
		if c == nil {
			t.FailNow()
		}
		defer c.Close(context.Background())
		if c.made[pinKeyFile] {
			made++
		}
	}
	want := secretsOf(t, all[0])
	for _, cfg := range all[1:] {
		sameSecrets(t, secretsOf(t, cfg), want)
	}
	if made != 1 {
		t.Errorf("%d nodes report that they made the key, want 1", made)
	}
	// A node that lost its folder reads the secrets again and replaces its files.
	if err := cores[2].Close(context.Background()); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Join(all[2].Server.Data, secretsFolder)); err != nil {
		t.Fatal(err)
	}
	if err := secrets.KeepKey(secretFile(all[2], pinKeyFile), "the key of another server, long enough"); err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(secretFile(all[2], pinKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openNode(t, all[2]); err != nil {
		t.Fatal(err)
	}
	sameSecrets(t, secretsOf(t, all[2]), want)
	// The replaced file can be the only copy of a key that a restored backup needs.
	if kept, err := os.ReadFile(secretFile(all[2], pinKeyFile) + ".before"); err != nil || !bytes.Equal(kept, own) {
		t.Errorf("the key that was replaced is not kept: %v", err)
	}
}

// If nodes start on a single server's database, they use the single server's secrets.
func TestTheFirstNodeUsesTheSecretsOfTheSingleServer(t *testing.T) {
	dsn, files := postgrestest.Database(t), t.TempDir()
	alone := onPostgres(t, dsn)
	alone.Files.Store = "folder:" + files
	c, err := openNode(t, alone)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.openVaults(); err != nil { // this call records the token keys in the database
		t.Fatal(err)
	}
	if _, err := c.pinKey(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	// A node without these keys must not create other keys, because the tokens would become
	// unreadable.
	if _, err := openNode(t, aNode(t, "empty", dsn, files)); err == nil || !strings.Contains(err.Error(), tokenKeyFile+" is missing") || !strings.Contains(err.Error(), "keys new --forget-tokens") {
		t.Errorf("starting a node without the keys returned %v", err)
	}
	first := aNode(t, "first", dsn, files)
	first.Server.Data = alone.Server.Data
	if err := os.Remove(secretFile(alone, settingsKeyFile)); err == nil {
		t.Error("this test needs a secret that is missing")
	}
	// The single server never needed this key, so no data depends on it. The node cannot determine
	// this, so it refuses to start.
	if _, err := openNode(t, first); err == nil || !strings.Contains(err.Error(), settingsKeyFile+" is missing") {
		t.Errorf("starting a node with a key missing returned %v", err)
	}
	for _, name := range []string{settingsKeyFile, sessionKeyFile} {
		if _, _, err := secretKey(alone, name); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := adminsPassword(alone); err != nil {
		t.Fatal(err)
	}
	before := secretsOf(t, alone)
	if _, err := openNode(t, first); err != nil {
		t.Fatal(err)
	}
	second := aNode(t, "second", dsn, files)
	if _, err := openNode(t, second); err != nil {
		t.Fatal(err)
	}
	sameSecrets(t, secretsOf(t, second), before)
}

// Abandoning all tokens is the only way out if the nodes' copy of the token keys is damaged.
func TestTokensCanBeAbandonedIfTheSharedKeysAreDamaged(t *testing.T) {
	cfg := aNode(t, "first", postgrestest.Database(t), t.TempDir())
	c, err := openNode(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.openVaults(); err != nil {
		t.Fatal(err)
	}
	store := c.node.Store
	if err := durable.Commit(store, []durable.Row{{Table: durable.NodeSecrets, Key: []byte(store.StreamID() + "/" + tokenKeyFile), Value: []byte("damaged")}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := openNode(t, cfg); err == nil {
		t.Error("a node started with damaged keys")
	}
	if err := ForgetTokens(cfg, func(int) error { return nil }, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if c, err = openNode(t, cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := c.openVaults(); err != nil {
		t.Error(err)
	}
}

func TestANodeWithAnotherSecretIsRefused(t *testing.T) {
	dsn, files := postgrestest.Database(t), t.TempDir()
	if _, err := openNode(t, aNode(t, "first", dsn, files)); err != nil {
		t.Fatal(err)
	}
	other := aNode(t, "other", dsn, files)
	other.Cluster.Secret += "!"
	_, err := openNode(t, other)
	if !errors.Is(err, nodes.ErrAnotherSecret) || strings.Contains(err.Error(), clusterSecret) {
		t.Errorf("starting with another cluster secret returned %v", err)
	}
	if _, err := os.Stat(secretFile(other, pinKeyFile)); err == nil {
		t.Error("the refused node has made keys")
	}
}

// Secrets in the database cannot be read without the cluster secret. Nodes detect secrets that are
// damaged or have another name. Backups do not contain the secrets.
func TestSecretsInTheDatabaseAreSealed(t *testing.T) {
	cfg := aNode(t, "first", postgrestest.Database(t), t.TempDir())
	c, err := openNode(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	k, store := c.keyring, c.node.Store
	row := func(name string) []byte { return []byte(store.StreamID() + "/" + name) }
	put := func(name string, value []byte) {
		t.Helper()
		if err := durable.Commit(store, []durable.Row{{Table: durable.NodeSecrets, Key: row(name), Value: value}}); err != nil {
			t.Fatal(err)
		}
	}
	first, err := k.Put("one", nodes.Secret{}, []byte("plain text"))
	if err != nil || first.Version != 1 {
		t.Fatal(err)
	}
	stored, err := store.Get(durable.NodeSecrets, row("one"))
	if err != nil || bytes.Contains(stored, []byte("plain")) {
		t.Fatalf("stored as %q, %v", stored, err)
	}
	if _, err := k.Put("one", nodes.Secret{}, []byte("again")); !errors.Is(err, durable.ErrConflict) {
		t.Errorf("creating the secret a second time returned %v, want ErrConflict", err)
	}
	second, err := k.Put("one", first, []byte("second"))
	if err != nil || second.Version != 2 {
		t.Fatal(err)
	}
	if _, err := k.Put("one", first, []byte("third")); !errors.Is(err, durable.ErrConflict) {
		t.Errorf("a change based on an older version returned %v, want ErrConflict", err)
	}
	for i := range stored {
		damaged := bytes.Clone(stored)
		damaged[i] ^= 1
		put("one", damaged)
		if s, err := k.Get("one"); err == nil {
			t.Errorf("after a change of byte %d, the secret is %q", i, s.Content)
		}
	}
	put("two", stored)
	if s, err := k.Get("two"); err == nil {
		t.Errorf("under another name, the secret is %q", s.Content)
	}
	put("two", stored[:5])
	if _, err := k.Get("two"); err == nil {
		t.Error("a truncated secret was accepted")
	}

	if _, err := c.pinKey(); err != nil { // this call records the key of all nodes
		t.Fatal(err)
	}
	var backup bytes.Buffer
	if err := c.store.Backup(&backup); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(backup.Bytes(), []byte(durable.NodeSecrets)) || !bytes.Contains(backup.Bytes(), []byte("nodekeys")) {
		t.Error("the backup contains the nodes' secrets, or lacks the other data")
	}
}

// cluster.secret can be changed while no node runs. The secrets that it seals stay the same.
func TestTheClusterSecretCanBeChanged(t *testing.T) {
	dsn, files := postgrestest.Database(t), t.TempDir()
	cfg := aNode(t, "first", dsn, files)
	c, err := openNode(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	want := secretsOf(t, cfg)
	const other = "another secret of this test, long enough: 9876543210"
	beside := aNode(t, "beside", dsn, files)
	if err := Rekey(beside, other, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "node first is running") {
		t.Errorf("changing the secret while a node runs: %v", err)
	}
	if err := c.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	wrong := cfg
	wrong.Cluster.Secret += "!"
	if err := Rekey(wrong, other, slog.New(slog.DiscardHandler)); !errors.Is(err, nodes.ErrAnotherSecret) {
		t.Errorf("Rekey with a wrong secret returned %v, want ErrAnotherSecret", err)
	}
	if err := Rekey(cfg, other, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if _, err := openNode(t, cfg); !errors.Is(err, nodes.ErrAnotherSecret) {
		t.Errorf("starting with the previous secret returned %v, want ErrAnotherSecret", err)
	}
	second := aNode(t, "second", dsn, files)
	second.Cluster.Secret = other
	if _, err := openNode(t, second); err != nil {
		t.Fatal(err)
	}
	sameSecrets(t, secretsOf(t, second), want)
}

// A key that a living node did not accept is not used anywhere. The next rotation continues with
// this key.
func TestAKeyWaitsForAllNodes(t *testing.T) {
	dsn, files := postgrestest.Database(t), t.TempDir()
	cfg := aNode(t, "first", dsn, files)
	c, err := openNode(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.openVaults()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.close(context.Background()) }()
	silent, err := OpenData(aNode(t, "silent", dsn, files), slog.New(slog.DiscardHandler)) // alive, but does not respond
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.keys.Rotate(time.Now()); err == nil || !strings.Contains(err.Error(), "node silent") {
		t.Errorf("a rotation while a node does not respond returned %v", err)
	}
	newest := func() (used uint32, known int) {
		ring := v.production.Ring()
		return ring.Newest().Number, len(ring.Versions())
	}
	if used, known := newest(); used != 1 || known != 2 {
		t.Errorf("version %d of %d is in use", used, known)
	}
	if err := silent.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if keys, err := v.keys.Rotate(time.Now()); err != nil || len(keys) != 2 {
		t.Errorf("the next rotation returned %d keys, %v", len(keys), err)
	}
	if used, known := newest(); used != 2 || known != 2 {
		t.Errorf("version %d of %d is in use", used, known)
	}
	// A node starts to use another node's change without receiving a message from that node.
	other, err := openNode(t, aNode(t, "other", dsn, files))
	if err != nil {
		t.Fatal(err)
	}
	mute, err := other.openSharedKeys(func([]seal.Key) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := mute.Change(func(keys []seal.Key) ([]seal.Key, error) {
		return secrets.Used(secrets.Announced(keys, time.Now()), time.Now()), nil
	}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go v.keys.Follow(ctx, time.Millisecond)
	for used, _ := newest(); used != 3; used, _ = newest() {
		if t.Context().Err() != nil {
			t.FailNow()
		}
		runtime.Gosched()
	}
	// Keys that are no longer needed are removed from the database, and therefore from each node.
	if _, _, err := mute.Change(func(keys []seal.Key) ([]seal.Key, error) {
		keys[0].RetiredAt = time.Now().Add(-keepKeys(cfg) - time.Hour)
		return keys, nil
	}); err != nil {
		t.Fatal(err)
	}
	begun, err := other.openVaults() // a start removes unneeded keys
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = begun.close(context.Background()) }()
	for _, known := newest(); known != 2; _, known = newest() {
		runtime.Gosched()
	}
}

// A node that ran alone for some time may have rotated keys that no other node has. When the node
// joins again, it publishes these keys, and nothing overwrites them.
func TestKeysRotatedOnASingleServerReachTheOtherNodes(t *testing.T) {
	dsn, files := postgrestest.Database(t), t.TempDir()
	cfg := aNode(t, "first", dsn, files)
	use := func(cfg config.Config, do func(c *Core, v vaults)) {
		t.Helper()
		c, err := OpenCore(cfg, Hooks{}, onBusyMachine, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		v, err := c.openVaults()
		if err == nil {
			do(c, v)
			err = v.close(context.Background())
		}
		if err := errors.Join(err, c.Close(context.Background())); err != nil {
			t.Fatal(err)
		}
	}
	other := aNode(t, "other", dsn, files)
	use(cfg, func(*Core, vaults) {})
	use(other, func(*Core, vaults) {})
	alone := cfg
	alone.Cluster = config.Cluster{}
	use(alone, func(c *Core, _ vaults) {
		if _, err := c.newTokenKey(time.Now()); err != nil {
			t.Fatal(err)
		}
	})
	want, err := os.ReadFile(TokenKeyFile(cfg))
	if err != nil {
		t.Fatal(err)
	}
	// A node that has only the database's earlier keys does not start before the first node has
	// published its keys.
	if _, err := openNode(t, other); err == nil || !strings.Contains(err.Error(), "lacks version 2") {
		t.Errorf("starting a node without the new key returned %v", err)
	}
	use(cfg, func(*Core, vaults) {})
	use(other, func(*Core, vaults) {})
	for _, cfg := range []config.Config{cfg, other} {
		if got, err := os.ReadFile(TokenKeyFile(cfg)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("node %s has other keys, %v", cfg.Cluster.Node, err)
		}
		if _, err := os.Stat(TokenKeyFile(cfg) + ".before"); err == nil {
			t.Errorf("node %s kept a copy of its former token keys, which can include dropped keys", cfg.Cluster.Node)
		}
	}
}

// idle is a server without duties.
type idle struct{ nodes.Duties }

func (idle) EndGrants()           {}
func (idle) SendAway(string)      {}
func (idle) Drop()                {}
func (idle) CloseUnreachable()    {}
func (idle) Compare([]string)     {}
func (idle) Counts() nodes.Counts { return nodes.Counts{} }

// A node that was paused during a rotation has the new keys when it resumes serving.
func TestAPausedNodeHasTheNewKeysWhenItResumes(t *testing.T) {
	dsn, files := postgrestest.Database(t), t.TempDir()
	cfg := aNode(t, "first", dsn, files)
	c, err := openNode(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.openVaults()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.close(context.Background()) }()
	postgrestest.Exec(t, dsn, "update atelier.nodes set lease_until = clock_timestamp()")
	<-c.node.Store.Lost()
	other, err := openNode(t, aNode(t, "other", dsn, files))
	if err != nil {
		t.Fatal(err)
	}
	k, err := other.openSharedKeys(func([]seal.Key) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Rotate(time.Now()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { c.node.Watch(ctx, idle{}) })
	for !c.node.Serves() {
		runtime.Gosched()
	}
	if used := v.production.Ring().Newest().Number; used != 2 {
		t.Errorf("the node serves with version %d, want 2", used)
	}
	stop()
	watching.Wait()
}

// When a node starts over, it keeps no data of any kind in memory.
func TestARestartingNodeKeepsNothingInMemory(t *testing.T) {
	c, err := openNode(t, aNode(t, "first", postgrestest.Database(t), t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	_, settled := c.settings.Get(settings.ID)
	_, taken := c.participants.Get(participant.ID)
	_, led := c.people.Get(people.ID)
	_, hooked := c.webhooks.Host().Get("01a21d90-4e40-7000-a61c-9d44d490bf98")
	_, taught := c.codelabs.Create(&codelab.Caller{Role: codelab.RoleAdmin, ID: codelab.FacilitatorID, AdminID: "admin"}, &codelab.Create{Codelab: &codelabpb.Codelab{Title: "T"}})
	if err := errors.Join(settled, taken, led, hooked, taught); err != nil {
		t.Fatal(err)
	}
	inMemory := func() (kinds []string) {
		for kind, n := range (&Service{core: c}).clusterStats().Copies {
			if n.Owned+n.Followed > 0 {
				kinds = append(kinds, kind)
			}
		}
		slices.Sort(kinds)
		return kinds
	}
	if got, want := inMemory(), []string{"codelab", "participants", "people", "settings", "webhooks"}; !slices.Equal(got, want) {
		t.Errorf("the stores in memory are %v, want %v", got, want)
	}
	(&duties{Service: &Service{core: c}}).Drop()
	if got := inMemory(); len(got) > 0 {
		t.Errorf("the stores still in memory are %v", got)
	}
}
