package service

import (
	"context"
	"sync"
	"time"

	"atelier/cmd/atelier/doctor"
	"atelier/cmd/atelier/nodes"
	"atelier/persistence/ondisk"
)

// probe determines a value that can take long, for example because a disk or another node hangs. If
// the value is old when it is requested, a goroutine determines a new one. Callers do not wait
// longer than their context allows.
type probe[T any] struct {
	find func(context.Context) T
	// maxAge is how long a value counts as new. costly is for expensive values, which are
	// determined for at most one percent of the time.
	maxAge time.Duration
	costly bool
	wanted chan struct{} // room for one request; never closed

	mu    sync.Mutex
	value T             // guarded by mu
	until time.Time     // guarded by mu; until this time a value counts as new
	next  chan struct{} // guarded by mu; closed with the next value
}

func newProbe[T any](maxAge time.Duration, find func(context.Context) T) *probe[T] {
	return &probe[T]{find: find, maxAge: maxAge, wanted: make(chan struct{}, 1), next: make(chan struct{})}
}

// run determines the value on request, until ctx ends.
func (p *probe[T]) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wanted:
		}
		if p.isNew() {
			continue // the request arrived while the value was being determined
		}
		began := time.Now()
		value := p.find(ctx)
		maxAge := p.maxAge
		if p.costly {
			maxAge = max(maxAge, 100*time.Since(began))
		}
		p.mu.Lock()
		p.value, p.until = value, time.Now().Add(maxAge)
		close(p.next)
		p.next = make(chan struct{})
		p.mu.Unlock()
	}
}

func (p *probe[T]) isNew() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.until)
}

// want requests a new value, if the current value is old.
func (p *probe[T]) want() {
	if p.isNew() {
		return
	}
	select {
	case p.wanted <- struct{}{}:
	default: // it is already requested
	}
}

// get waits until the value is new or ctx ends, and returns it. known is false if there is no value
// or only an old one. The caller must call want first.
func (p *probe[T]) get(ctx context.Context) (value T, known bool) {
	p.mu.Lock()
	next := p.next
	value, known = p.value, time.Now().Before(p.until)
	p.mu.Unlock()
	if known {
		return value, true
	}
	select {
	case <-next:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.value, time.Now().Before(p.until)
}

// last returns the latest value, even if it is old. It waits only for the first value. The caller
// must call want first.
func (p *probe[T]) last(ctx context.Context) (value T, known bool) {
	p.mu.Lock()
	value, known = p.value, !p.until.IsZero()
	p.mu.Unlock()
	if known {
		return value, true
	}
	return p.get(ctx)
}

// probes determines the values of the owner's page. See ownersHealth.
type probes struct {
	space       *probe[space]
	size        *probe[folderSize]
	backup      *probe[lastBackup]
	certificate *probe[time.Time]     // the end of the certificate; requested only if the server has one
	nodes       *probe[*nodes.Status] // requested only in a cluster
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

// Most values change quickly, so they become old soon. The folder's size counts as new for longer,
// because determining it reads the size of each file.
const (
	probeMaxAge = 5 * time.Second
	sizeMaxAge  = time.Minute
)

func (s *Service) startProbes() error {
	data := s.cfg.Server.Data
	s.probes.space = newProbe(probeMaxAge, func(context.Context) (f space) {
		f.free, f.total, f.err = ondisk.Space(data)
		return f
	})
	s.probes.size = newProbe(sizeMaxAge, func(ctx context.Context) (f folderSize) {
		f.bytes, f.err = ondisk.Size(ctx, data)
		return f
	})
	s.probes.size.costly = true
	s.probes.backup = newProbe(probeMaxAge, func(context.Context) (f lastBackup) {
		f.made, f.found = doctor.LastBackup(data, doctor.BackupAge, time.Now())
		return f
	})
	s.probes.certificate = newProbe(probeMaxAge, func(context.Context) time.Time { return s.pair.Certificate().Leaf.NotAfter })
	s.probes.nodes = newProbe(probeMaxAge, func(context.Context) *nodes.Status {
		return s.core.node.Status(s.cfg, s.health(), s.clusterStats())
	})
	for _, run := range []func(context.Context){s.probes.space.run, s.probes.size.run, s.probes.backup.run, s.probes.certificate.run, s.probes.nodes.run} {
		s.probes.running.Go(func() { run(s.ending) })
	}
	return nil
}

// stopProbes waits for probes in progress until ctx ends, because a disk can hang.
func (s *Service) stopProbes(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		s.probes.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return nil
}
