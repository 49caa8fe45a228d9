package git

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"atelier/actors/durable"
)

// Limits of the cache: the number of packs, their total bytes, and the number of packs built
// concurrently. The open packs include evicted ones that clients still read. While the open packs
// have more than twice maxPackBytes, no pack is built, and requests get durable.ErrBusy.
const (
	maxPacks     = 128
	maxPackBytes = 512 << 20
	maxMaking    = 2
)

// Packs builds packs and caches the latest ones on disk. It is safe for concurrent use.
type Packs struct {
	scratch func() (*os.File, error)
	making  chan struct{}
	most    int64 // maxPackBytes
	made    atomic.Int64
	// held is the number of bytes of all open files.
	held atomic.Int64

	mu    sync.Mutex
	packs map[string]*pack
	order []string // keys of finished packs, oldest first
	bytes int64
}

// pack is built once for all requests that wait for it. It is closed when neither the cache nor a
// request needs it.
type pack struct {
	ready chan struct{}
	err   error
	file  *os.File
	size  int64
	users atomic.Int32 // its readers, and the table of cached packs
	of    *Packs
}

// NewPacks returns an empty cache. scratch creates unnamed files.
func NewPacks(scratch func() (*os.File, error)) *Packs {
	return &Packs{scratch: scratch, making: make(chan struct{}, maxMaking), most: maxPackBytes, packs: map[string]*pack{}}
}

// Made returns the number of packs that were built because the cache did not have them.
func (ps *Packs) Made() int64 { return ps.made.Load() }

// Reader returns the response to a fetch, and its size. The caller closes the response.
func (ps *Packs) Reader(a *Answer) (io.ReadCloser, int64, error) {
	head := bytes.NewReader(a.Head)
	if a.Plan == nil {
		return io.NopCloser(head), head.Size(), nil
	}
	p, err := ps.get(a.Plan)
	if err != nil {
		return nil, 0, err
	}
	var content io.Reader = io.NewSectionReader(p.file, 0, p.size)
	size := p.size
	if a.band {
		content, size = inBand(content), sizeInBand(size)
	}
	return &packReader{io.MultiReader(head, content), p, sync.Once{}}, head.Size() + size, nil
}

type packReader struct {
	io.Reader
	pack *pack
	once sync.Once
}

func (r *packReader) Close() error {
	r.once.Do(r.pack.release)
	return nil
}

// release ends one use.
func (p *pack) release() {
	if p.users.Add(-1) == 0 && p.file != nil {
		p.of.held.Add(-p.size)
		_ = p.file.Close() // an error is harmless, because the file has no name
	}
}

// get returns the pack of a plan. The caller must release it.
func (ps *Packs) get(plan *Plan) (*pack, error) {
	key := plan.Key()
	ps.mu.Lock()
	p := ps.packs[key]
	if p != nil {
		p.users.Add(1)
		ps.mu.Unlock()
		<-p.ready
		if p.err != nil {
			p.release()
			return nil, p.err
		}
		return p, nil
	}
	p = &pack{ready: make(chan struct{}), of: ps}
	p.users.Store(2)
	ps.packs[key] = p
	ps.mu.Unlock()
	ps.make(key, p, plan)
	if p.err != nil {
		p.release()
		return nil, p.err
	}
	return p, nil
}

// make builds a pack and adds it to the cache. A pack that failed is removed from the cache.
func (ps *Packs) make(key string, p *pack, plan *Plan) {
	defer close(p.ready)
	p.err = errors.New("building a pack panicked") // for waiting requests, if building panics
	defer func() {
		ps.mu.Lock()
		defer ps.mu.Unlock()
		if p.err != nil {
			delete(ps.packs, key)
			p.users.Add(-1)
			return
		}
		ps.order, ps.bytes = append(ps.order, key), ps.bytes+p.size
		for len(ps.order) > maxPacks || ps.bytes > ps.most {
			oldest := ps.packs[ps.order[0]]
			delete(ps.packs, ps.order[0])
			ps.order, ps.bytes = ps.order[1:], ps.bytes-oldest.size
			oldest.release()
		}
	}()
	ps.making <- struct{}{}
	defer func() { <-ps.making }()
	if ps.held.Load() > 2*ps.most {
		p.err = durable.ErrBusy
		return
	}
	ps.made.Add(1)
	f, err := ps.scratch()
	if err != nil {
		p.err = err
		return
	}
	defer func() {
		if p.file == nil {
			_ = f.Close()
		}
	}()
	size, err := plan.write(f)
	if p.err = err; err == nil {
		p.file, p.size = f, size
		ps.held.Add(size)
	}
}
