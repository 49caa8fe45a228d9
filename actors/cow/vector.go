// Package cow provides a vector with cheap immutable captures. An actor changes the vector, and
// readers get a View that never changes. A capture costs O(1). After a capture, the first change
// copies the list of pages, and the first change of a page copies that page.
package cow

import (
	"iter"
	"sync/atomic"
)

// pageSize is the number of elements of a full page, all of which one change can copy. A page of 64
// pointers has 512 bytes, and 10,000 elements need 157 pages.
const pageSize = 64

// page is immutable once it is part of a capture.
type page[T any] struct {
	owner *byte // the vector's token when the page was created
	items []T
	// cache contains encodings of the captured page.
	cache [2]atomic.Pointer[[]byte]
}

// Vector is a growable list. The zero value is empty. It is used by one goroutine. Elements are
// treated as immutable: to change an element, replace it.
type Vector[T any] struct {
	pages  []*page[T]
	n      int
	token  *byte // pages with this owner can be changed in place
	shared bool  // a capture holds the slice of pages
}

// Len returns the number of elements.
func (v *Vector[T]) Len() int { return v.n }

// At returns element i.
func (v *Vector[T]) At(i int) T { return v.pages[i/pageSize].items[i%pageSize] }

// All iterates over the elements.
func (v *Vector[T]) All() iter.Seq2[int, T] { return all(v.pages) }

// Set replaces element i.
func (v *Vector[T]) Set(i int, x T) { v.writable(i / pageSize).items[i%pageSize] = x }

// Append adds an element at the end.
func (v *Vector[T]) Append(x T) {
	if v.n%pageSize == 0 {
		v.unshare()
		v.pages = append(v.pages, &page[T]{owner: v.owner(), items: make([]T, 0, pageSize)})
	}
	p := v.writable(v.n / pageSize)
	p.items = append(p.items, x)
	v.n++
}

// Filter keeps the elements for which keep returns true, in order. It calls keep once per element.
// It copies the kept elements only if others are removed.
func (v *Vector[T]) Filter(keep func(T) bool) (removed int) {
	var kept Vector[T]
	for i, x := range v.All() {
		switch {
		case !keep(x):
			if removed == 0 {
				for j := range i {
					kept.Append(v.At(j))
				}
			}
			removed++
		case removed > 0:
			kept.Append(x)
		}
	}
	if removed > 0 {
		*v = kept
	}
	return removed
}

// Capture returns an immutable view of the current elements.
func (v *Vector[T]) Capture() View[T] {
	v.token, v.shared = nil, true
	return View[T]{v.pages, v.n}
}

func (v *Vector[T]) owner() *byte {
	if v.token == nil {
		v.token = new(byte)
	}
	return v.token
}

func (v *Vector[T]) unshare() {
	if v.shared {
		v.pages = append(make([]*page[T], 0, len(v.pages)+1), v.pages...)
		v.shared = false
	}
}

func (v *Vector[T]) writable(i int) *page[T] {
	p := v.pages[i]
	if p.owner == v.owner() {
		return p
	}
	v.unshare()
	p = &page[T]{owner: v.token, items: append(make([]T, 0, pageSize), p.items...)}
	v.pages[i] = p
	return p
}

// View is an immutable list. The zero value is empty. Safe for concurrent use.
type View[T any] struct {
	pages []*page[T]
	n     int
}

// Len returns the number of elements.
func (v View[T]) Len() int { return v.n }

// At returns element i.
func (v View[T]) At(i int) T { return v.pages[i/pageSize].items[i%pageSize] }

// All iterates over the elements.
func (v View[T]) All() iter.Seq2[int, T] { return all(v.pages) }

// Encode appends the results of enc for all pages, in order. It reuses earlier results for
// unchanged pages and the same slot (0 or 1). enc must always return the same result for the same
// elements.
func (v View[T]) Encode(dst []byte, slot int, enc func(dst []byte, items []T) []byte) []byte {
	for _, p := range v.pages {
		c := p.cache[slot].Load()
		if c == nil {
			b := enc(nil, p.items)
			c = &b
			p.cache[slot].Store(c)
		}
		dst = append(dst, *c...)
	}
	return dst
}

func all[T any](pages []*page[T]) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		i := 0
		for _, p := range pages {
			for _, x := range p.items {
				if !yield(i, x) {
					return
				}
				i++
			}
		}
	}
}
