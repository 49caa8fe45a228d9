package shares

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
	"atelier/persistence/ondisk"
)

// Options configures a Store.
type Options struct {
	// Dir is the folder; it is created if missing.
	Dir string
	// Longest is the maximum lifetime of anything sealed under a share.
	Longest time.Duration
	// Now is the clock, and Uptime is a monotonic clock. If nil, they are the system's clocks.
	Now    func() time.Time
	Uptime func() time.Duration
	Logger *slog.Logger
	// Spread is used if several nodes serve the same tokens; it is nil on a single server. It sends
	// a share to the other nodes before anything is sealed under the share. If Spread fails, the
	// share is not used. With Spread, nothing new is sealed under shares found at startup, because
	// some nodes can lack them.
	Spread func(Share) error
	// Lacks reports whether other nodes of a cluster can have shares that this node lacks, so that
	// a missing share can still be valid. nil means never.
	Lacks func() bool
	// Failed, if set, is called with the error when a share cannot be stored. It must not block.
	Failed func(error)

	// Disk gives access to the folder. If nil, it is the operating system's folder Dir. Tests and
	// the simulator set it.
	Disk Disk
}

// Store stores the shares. Safe for concurrent use.
type Store struct {
	// Immutable after Open.
	opts Options
	log  *slog.Logger

	mu    sync.RWMutex
	byID  map[seal.ShareID]*held // guarded by mu
	byEnd map[int64]*held        // guarded by mu; the share for new data, by end in Unix seconds
	// spreading is the share that is being sent to the other nodes. Guarded by mu. It is not sent
	// to a node that is just starting. Such a node requests all shares, including this one.
	spreading *held

	// making is held while a share is created, and guards the following fields. It is never
	// acquired while writing is held. Taking another node's share needs writing but not making, so
	// nodes that create shares concurrently do not block each other.
	making  sync.Mutex
	failed  error         // the error of the last attempt to create a share
	retryAt time.Duration // not before this uptime

	// taking is held while another node's share is being stored.
	taking sync.Mutex

	// writing is held while the folder is changed, and guards the following fields.
	writing sync.Mutex
	doomed  map[string]bool // names of files to destroy

	stop       context.CancelFunc
	background sync.WaitGroup
}

// held is a share in use. Immutable.
type held struct {
	share *seal.Share
	name  string
	until time.Duration // the uptime at which it ends, regardless of the clock
}

// Open loads the stored shares and destroys the expired ones. Until Close, it destroys each share
// when it expires.
func Open(o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Uptime == nil {
		began := time.Now()
		o.Uptime = func() time.Duration { return time.Since(began) }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	if o.Disk == nil {
		if err := ondisk.MakeFolder(o.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("token shares: %w", err)
		}
		o.Disk = folder(o.Dir)
	}
	s := &Store{
		opts: o, log: o.Logger.With("component", "shares"),
		byID: map[seal.ShareID]*held{}, byEnd: map[int64]*held{}, doomed: map[string]bool{},
	}
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("token shares: %w", err)
	}
	s.sweep()
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.background.Go(func() { s.run(ctx) })
	return s, nil
}

// Until implements token.Shares.
func (s *Store) Until(end time.Time) (*seal.Share, error) {
	ends := seal.QuarterEnd(end)
	if h := s.current(ends); h != nil {
		return h.share, nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	if h := s.current(ends); h != nil { // another caller created it
		return h.share, nil
	}
	now := s.opts.Now()
	if !now.Before(ends) {
		return nil, seal.ErrOver
	}
	if s.failed != nil && s.opts.Uptime() < s.retryAt {
		return nil, s.failed
	}
	h, err := s.make(ends, now)
	if s.failed = err; err != nil {
		s.retryAt = s.opts.Uptime() + time.Second
		s.log.Error("creating a key share failed; new tokens are refused", "error", err)
		return nil, err
	}
	s.use(h)
	return h.share, nil
}

// current returns the share for an expiry time, if the share is valid until then.
func (s *Store) current(ends time.Time) *held {
	s.mu.RLock()
	h := s.byEnd[ends.Unix()]
	s.mu.RUnlock()
	if h == nil || s.over(h) {
		return nil
	}
	if h.until-s.opts.Uptime() < ends.Sub(s.opts.Now()) {
		return nil // the clock was set back, so the share ends before that time
	}
	return h
}

// over reports whether a share has expired.
func (s *Store) over(h *held) bool {
	return !s.opts.Now().Before(h.share.Ends()) || s.opts.Uptime() >= h.until
}

// Find implements token.Shares.
func (s *Store) Find(id seal.ShareID) (*seal.Share, error) {
	// Lacks is called first, so that a share that arrives afterwards is found.
	lacks := s.opts.Lacks != nil && s.opts.Lacks()
	s.mu.RLock()
	h := s.byID[id]
	s.mu.RUnlock()
	switch {
	case h == nil && lacks:
		return nil, fmt.Errorf("%w: this node does not have all shares yet", durable.ErrUnavailable)
	case h == nil || s.over(h):
		return nil, nil
	}
	return h.share, nil
}

// make creates a share and its file, and sends the share to the other nodes. The caller holds
// making.
func (s *Store) make(ends, now time.Time) (*held, error) {
	var secret [seal.ShareBytes]byte
	defer clear(secret[:])
	_, _ = rand.Read(secret[:]) // never fails
	share := seal.NewShare(ends, &secret)
	h := s.hold(share, fileName(share), now)
	if err := s.write(h, secret[:], func() {}); err != nil {
		return nil, fmt.Errorf("make a share: %w", err)
	}
	if s.opts.Spread != nil {
		s.spread(h)
		if err := s.opts.Spread(Share{ends, secret[:]}); err != nil {
			s.spread(nil)
			s.doom(h)
			return nil, fmt.Errorf("send a share to the other nodes: %w", err)
		}
	}
	return h, nil
}

// write writes a share's file, and then calls then, before the folder is used again. After a
// failure, the next sweep destroys the remains, unless the share is written again earlier.
func (s *Store) write(h *held, secret []byte, then func()) error {
	s.writing.Lock()
	err := keep(s.opts.Disk, h.name, secret)
	if err == nil {
		delete(s.doomed, h.name)
		then()
	}
	s.writing.Unlock()
	if err != nil {
		s.doom(h)
		s.opts.Failed(err)
	}
	return err
}

// doom makes the next sweep destroy a share under which nothing is sealed. If a node that received
// the share has meanwhile sent it back, the file stays.
func (s *Store) doom(h *held) {
	id := h.share.ID()
	h.share.Wipe()
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.byID[id] == nil {
		s.doomed[h.name] = true
	}
}

// hold computes by uptime how long a share is in use, so that later changes of the clock do not
// matter. It adds one percent, in case the clock is being slewed to the right time.
func (s *Store) hold(share *seal.Share, name string, now time.Time) *held {
	left := min(share.Ends().Sub(now), s.opts.Longest+seal.Quarter)
	return &held{share: share, name: name, until: s.opts.Uptime() + left + left/100}
}

func (s *Store) spread(h *held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spreading = h
}

func (s *Store) use(h *held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spreading = nil
	s.byID[h.share.ID()] = h
	s.byEnd[h.share.Ends().Unix()] = h
}

const (
	namePrefix = "tokens-until-"
	nameTime   = "20060102T150405Z"
)

func fileName(s *seal.Share) string {
	return namePrefix + s.Ends().UTC().Format(nameTime) + "-" + s.ID().String()
}

// parseName is the inverse of fileName. ok is false for files that are not shares.
func parseName(name string) (ends time.Time, id string, ok bool) {
	rest, ok := strings.CutPrefix(name, namePrefix)
	if !ok {
		return ends, "", false
	}
	at, id, ok := strings.Cut(rest, "-")
	if !ok || len(id) != 2*len(seal.ShareID{}) {
		return ends, "", false
	}
	ends, err := time.Parse(nameTime, at)
	return ends, id, err == nil
}

// load activates the existing shares, and dooms expired and incomplete ones.
func (s *Store) load() error {
	names, err := s.opts.Disk.List()
	if err != nil {
		return err
	}
	now := s.opts.Now()
	for _, name := range names {
		ends, id, ours := parseName(name)
		switch {
		case !ours:
		case !now.Before(ends):
			s.doomed[name] = true
		default:
			if err := s.read(name, ends, id, now); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) read(name string, ends time.Time, id string, now time.Time) error {
	b, info, err := read(s.opts.Disk, name, seal.ShareBytes)
	if err != nil {
		return err
	}
	defer clear(b)
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("others can read %s; run chmod 600 on it", filepath.Join(s.opts.Dir, name))
	}
	if len(b) < seal.ShareBytes || strings.Trim(string(b), "\x00") == "" {
		s.doomed[name] = true // its creation or destruction was interrupted
		return nil
	}
	h := s.hold(seal.NewShare(ends, (*[seal.ShareBytes]byte)(b)), name, now)
	if h.share.ID().String() != id {
		s.log.Error("a key share is damaged; tokens under it count as expired", "file", name)
		s.byID[h.share.ID()] = h // no token refers to this id; the share expires as usual
		return nil
	}
	if s.use(h); s.opts.Spread != nil {
		delete(s.byEnd, ends.Unix())
	}
	return nil
}

// Close wipes the shares from memory. Their files stay.
func (s *Store) Close() error {
	s.stop()
	s.background.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, h := range s.byID {
		h.share.Wipe()
		delete(s.byID, id)
	}
	clear(s.byEnd)
	return nil
}
