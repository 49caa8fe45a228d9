package service

import (
	"context"
	"sync"
	"time"

	"atelier/cmd/atelier/doctor"
	"atelier/cmd/atelier/nodes"
	"atelier/persistence/ondisk"
)

// probe determines a value that can take long, because a disk or another node hangs. If the
// value is old when it is requested, a goroutine determines a new one. Callers wait no
// longer than their context allows.
type probe[T any] struct {
	find func(context.Context) T
	// keeps is how long a value counts as new. sparing is for expensive values: no more
	// than a hundredth of the time is spent on them.
	keeps   time.Duration
	sparing bool
	wanted  chan struct{} // holds one; never closed

	mu    sync.Mutex
	value T             // guarded by mu
	until time.Time     // guarded by mu; value counts as new until then. Zero if there is none
	next  chan struct{} // guarded by mu; closed with the next value
}

func newProbe[T any](keeps time.Duration, find func(context.Context) T) *probe[T] {
	return &probe[T]{find: find, keeps: keeps, wanted: make(chan struct{}, 1), next: make(chan struct{})}
}

// run determines the value on request, until ctx ends.
func (l *probe[T]) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wanted:
		}
		if l.isNew() {
			continue // it was requested while it was determined
		}
		began := time.Now()
		value := l.find(ctx)
		keeps := l.keeps
		if l.sparing {
			keeps = max(keeps, 100*time.Since(began))
		}
		l.mu.Lock()
		l.value, l.until = value, time.Now().Add(keeps)
		close(l.next)
		l.next = make(chan struct{})
		l.mu.Unlock()
	}
}

func (l *probe[T]) isNew() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().Before(l.until)
}

// want requests a new value, if the present one is old.
func (l *probe[T]) want() {
	if l.isNew() {
		return
	}
	select {
	case l.wanted <- struct{}{}:
	default: // it is already requested
	}
}

// get returns the value when it is new, or when ctx ends. known is false if there is no
// value, or an old one. The caller must have called want.
func (l *probe[T]) get(ctx context.Context) (value T, known bool) {
	l.mu.Lock()
	next := l.next
	value, known = l.value, time.Now().Before(l.until)
	l.mu.Unlock()
	if known {
		return value, true
	}
	select {
	case <-next:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.value, time.Now().Before(l.until)
}

// last returns the last value, new or not, and waits only for the first. The caller must
// have called want.
func (l *probe[T]) last(ctx context.Context) (value T, known bool) {
	l.mu.Lock()
	value, known = l.value, !l.until.IsZero()
	l.mu.Unlock()
	if known {
		return value, true
	}
	return l.get(ctx)
}

// looks are the probes for the owner's page, see ownersHealth.
type looks struct {
	space       *probe[space]
	size        *probe[folderSize]
	backup      *probe[lastBackup]
	certificate *probe[time.Time]     // when it ends; wanted only if there is one
	nodes       *probe[*nodes.Status] // wanted only if there are others
	running     sync.WaitGroup
}

type space struct {
	free, total uint64
	err         error
}

type folderSize struct {
	bytes uint64
	err   error
}

type lastBackup struct {
	made  *doctor.Backup
	found doctor.Finding
}

// Values that change quickly are determined at each request. The size of the folder, which
// needs a look at each file, is determined rarely.
const (
	looksKeep = 5 * time.Second
	sizeKeeps = time.Minute
)

func (s *Service) beginLooks() error {
	data := s.cfg.Server.Data
	s.looks.space = newProbe(looksKeep, func(context.Context) (f space) {
		f.free, f.total, f.err = ondisk.Space(data)
		return f
	})
	s.looks.size = newProbe(sizeKeeps, func(ctx context.Context) (f folderSize) {
		f.bytes, f.err = ondisk.Size(ctx, data)
		return f
	})
	s.looks.size.sparing = true
	s.looks.backup = newProbe(looksKeep, func(context.Context) (f lastBackup) {
		f.made, f.found = doctor.LastBackup(data, doctor.BackupAge, time.Now())
		return f
	})
	s.looks.certificate = newProbe(looksKeep, func(context.Context) time.Time { return s.pair.Certificate().Leaf.NotAfter })
	s.looks.nodes = newProbe(looksKeep, func(context.Context) *nodes.Status {
		return s.core.node.Status(s.cfg, s.health(), s.clusterStats())
	})
	for _, run := range []func(context.Context){s.looks.space.run, s.looks.size.run, s.looks.backup.run, s.looks.certificate.run, s.looks.nodes.run} {
		s.looks.running.Go(func() { run(s.ending) })
	}
	return nil
}

// endLooks waits for checks in progress, but not for a hanging disk.
func (s *Service) endLooks(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		s.looks.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return nil
}
