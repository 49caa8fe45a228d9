package shares

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier/persistence/ondisk"
)

// Ballots stores the secrets of anonymous polls. Each secret is a file whose name contains the
// codelab's id. Ballots implements codelab.BallotKeys. Safe for concurrent use.
type Ballots struct {
	// Immutable after OpenBallots.
	opts BallotOptions

	mu   sync.RWMutex
	byID map[string]*ballotSecret // guarded by mu
	// gone contains the ids of the secrets last destroyed on this node, oldest first. Another node
	// that has not destroyed such a secret yet can send it again. The ids prevent this node from
	// restoring it. Guarded by mu.
	gone []string

	// writing is held while the folder is changed, and guards the following fields.
	writing sync.Mutex
	doomed  map[string]bool // ids of secrets to destroy

	background sync.WaitGroup
}

// BallotOptions configures Ballots.
type BallotOptions struct {
	// Dir is the folder; it is created if missing.
	Dir    string
	Logger *slog.Logger
	// Spread sends a secret to the other nodes before Make returns its id. It returns the nodes
	// that have the secret, including this one. nil on a single server.
	Spread func(Ballot) (keepers []string, err error)
	// Failed, if set, is called with the error when a secret cannot be stored. It must not block.
	Failed func(error)

	// Disk is the folder. If nil, it is the operating system's folder Dir. Tests and the simulator
	// set it.
	Disk Disk
	now  func() time.Time
}

// Ballot is the secret of a poll as it is sent between nodes.
type Ballot struct {
	ID     string `json:"id"`
	Secret []byte `json:"secret"`
}

type ballotSecret struct {
	secret [ballotBytes]byte
	made   time.Time
	// kept means that this process has stored the secret on disk. An earlier process may have
	// failed to sync a secret that is found at startup.
	kept bool
}

const (
	ballotBytes  = 32
	ballotPrefix = "ballots-"
	// ballotUse is the maximum duration of a command that uses a new secret.
	ballotUse = 2 * time.Minute
	// maxGone is the maximum number of destroyed secrets remembered, at 70 bytes each.
	maxGone = 10_000
)

// ballotID matches a codelab id followed by 64 random bits.
var ballotID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[0-9a-f]{16}$`)

// OpenBallots loads the existing secrets, and destroys incomplete ones.
func OpenBallots(o BallotOptions) (*Ballots, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	if o.Disk == nil {
		if err := ondisk.MakeFolder(o.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("secrets of polls: %w", err)
		}
		o.Disk = folder(o.Dir)
	}
	o.Logger = o.Logger.With("component", "ballots")
	b := &Ballots{opts: o, byID: map[string]*ballotSecret{}, doomed: map[string]bool{}}
	names, err := o.Disk.List()
	if err != nil {
		return nil, fmt.Errorf("secrets of polls: %w", err)
	}
	for _, name := range names {
		if id, ours := strings.CutPrefix(name, ballotPrefix); ours && ballotID.MatchString(id) {
			if err := b.load(id); err != nil {
				return nil, fmt.Errorf("secrets of polls: %w", err)
			}
		}
	}
	b.sweep()
	return b, nil
}

func (b *Ballots) load(id string) error {
	secret, info, err := read(b.opts.Disk, ballotPrefix+id, ballotBytes)
	switch {
	case err != nil:
		return err
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others can read %s; run chmod 600 on it", filepath.Join(b.opts.Dir, ballotPrefix+id))
	case len(secret) < ballotBytes || strings.Trim(string(secret), "\x00") == "":
		b.doomed[id] = true // incomplete: its creation or destruction was interrupted
		return nil
	}
	// The age of a secret includes the time before a restart. Otherwise a secret would never become
	// old on a node that restarts every minute.
	made := info.ModTime()
	if now := b.opts.now(); made.After(now) {
		made = now // the clock was set back
	}
	b.byID[id] = &ballotSecret{secret: [ballotBytes]byte(secret), made: made}
	clear(secret)
	return nil
}

// Make implements codelab.BallotKeys.
func (b *Ballots) Make(codelab string) (id string, keepers []string, err error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // rand.Read never fails
	id = codelab + "." + hex.EncodeToString(random[:])
	if !ballotID.MatchString(id) {
		return "", nil, fmt.Errorf("make the secret of a poll: %q is not a codelab", codelab)
	}
	x := &ballotSecret{made: b.opts.now()}
	_, _ = rand.Read(x.secret[:])
	if err := b.keep(id, x); err != nil {
		return "", nil, fmt.Errorf("make the secret of a poll: %w", err)
	}
	if b.opts.Spread != nil {
		if keepers, err = b.opts.Spread(Ballot{id, x.secret[:]}); err != nil {
			b.Destroy(id)
			return "", nil, fmt.Errorf("send the secret of a poll to the other nodes: %w", err)
		}
	}
	return id, keepers, nil
}

// keep stores a secret on disk and activates it. After a failure, the next sweep destroys the
// remains, unless the secret is in use or another keep succeeds earlier.
func (b *Ballots) keep(id string, x *ballotSecret) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	if b.settled(id) {
		return nil // another caller has already stored the secret
	}
	if err := keep(b.opts.Disk, ballotPrefix+id, x.secret[:]); err != nil {
		if b.Key(id) == nil {
			b.doomed[id] = true
			b.background.Go(b.sweep)
		}
		b.opts.Failed(err)
		return err
	}
	delete(b.doomed, id)
	x.kept = true
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.gone, id) { // destroyed while it was being stored
		b.doomed[id] = true
		clear(x.secret[:])
		b.background.Go(b.sweep)
		return nil
	}
	b.byID[id] = x
	return nil
}

// settled reports whether keep has nothing left to do: the secret is on disk, or was destroyed.
func (b *Ballots) settled(id string) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	x := b.byID[id]
	return x != nil && x.kept || slices.Contains(b.gone, id)
}

// Take stores a secret created by another node. When Take returns nil, the secret is on disk. A
// secret that was destroyed here is not stored again. Repeated calls change nothing.
func (b *Ballots) Take(in Ballot) error {
	if len(in.Secret) != ballotBytes || !ballotID.MatchString(in.ID) {
		return errors.New("take the secret of a poll: malformed")
	}
	made := b.opts.now()
	b.mu.RLock()
	if x := b.byID[in.ID]; x != nil {
		made = x.made
	}
	b.mu.RUnlock()
	if err := b.keep(in.ID, &ballotSecret{secret: [ballotBytes]byte(in.Secret), made: made}); err != nil {
		return fmt.Errorf("take the secret of a poll: %w", err)
	}
	return nil
}

// All returns the secrets in use, to send to another node.
func (b *Ballots) All() (out []Ballot, _ error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for id, x := range b.byID {
		out = append(out, Ballot{id, append([]byte(nil), x.secret[:]...)})
	}
	return out, nil
}

// Find returns a secret, to send to another node.
func (b *Ballots) Find(id string) (Ballot, bool) {
	key := b.Key(id)
	return Ballot{id, key}, key != nil
}

// Key returns a copy of a secret, or nil if this node does not have it.
func (b *Ballots) Key(id string) []byte {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if x := b.byID[id]; x != nil {
		return append([]byte(nil), x.secret[:]...)
	}
	return nil
}

// Destroy implements codelab.BallotKeys. It deactivates a secret immediately; another goroutine
// overwrites and removes the file.
func (b *Ballots) Destroy(id string) {
	b.mu.Lock()
	if !slices.Contains(b.gone, id) {
		if b.gone = append(b.gone, id); len(b.gone) > maxGone {
			b.gone = b.gone[1:]
		}
	}
	x := b.byID[id]
	if x == nil {
		b.mu.Unlock()
		return
	}
	clear(x.secret[:])
	delete(b.byID, id)
	b.mu.Unlock()
	b.background.Go(func() {
		b.writing.Lock()
		b.doomed[id] = true
		b.writing.Unlock()
		b.sweep()
	})
}

// Old implements codelab.BallotKeys. It also retries failed destructions.
func (b *Ballots) Old() (ids []string) {
	b.sweep()
	b.mu.RLock()
	defer b.mu.RUnlock()
	for id, x := range b.byID {
		if b.opts.now().Sub(x.made) > ballotUse {
			ids = append(ids, id)
		}
	}
	return ids
}

// sweep overwrites and removes the doomed files. After a failure a file stays doomed.
func (b *Ballots) sweep() {
	b.writing.Lock()
	defer b.writing.Unlock()
	if len(b.doomed) == 0 {
		return
	}
	var gone []string
	for id := range b.doomed {
		if err := erase(b.opts.Disk, ballotPrefix+id); err != nil && !errors.Is(err, fs.ErrNotExist) {
			b.opts.Logger.Error("destroying the secret of a poll failed; it is tried again", "error", err)
			continue
		}
		gone = append(gone, id)
	}
	if err := b.opts.Disk.Sync(); err != nil {
		b.opts.Logger.Error("destroying the secret of a poll failed; it is tried again", "error", err)
		return
	}
	for _, id := range gone {
		delete(b.doomed, id)
	}
}

// Close waits for pending destructions, and wipes the remaining secrets from memory. Their files
// stay.
func (b *Ballots) Close() {
	b.background.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, x := range b.byID {
		clear(x.secret[:])
		delete(b.byID, id)
	}
}
