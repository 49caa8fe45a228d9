package codelab

import ones "math/bits"

// bitset is a set of list indexes, with one bit per index. No method changes its receiver.
type bitset []byte

// has reports whether the set contains index i.
func (b bitset) has(i int) bool { return i/8 < len(b) && b[i/8]&(1<<(i%8)) != 0 }

// set returns the set with index i if in is set, and without it otherwise.
func (b bitset) set(i int, in bool) bitset {
	out := make(bitset, max(len(b), i/8+1))
	copy(out, b)
	if in {
		out[i/8] |= 1 << (i % 8)
	} else {
		out[i/8] &^= 1 << (i % 8)
	}
	return out
}

// union returns the union of two sets.
func (b bitset) union(o bitset) bitset {
	out := make(bitset, max(len(b), len(o)))
	copy(out, b)
	for i, x := range o {
		out[i] |= x
	}
	return out
}

// shifted returns the set after the element at index i was removed from the list. Higher indexes
// decrease by one.
func (b bitset) shifted(i int) bitset {
	if i/8 >= len(b) {
		return b
	}
	out := make(bitset, len(b))
	for j := range 8 * len(b) {
		switch at := j; {
		case j == i || !b.has(j):
		default:
			if j > i {
				at--
			}
			out[at/8] |= 1 << (at % 8)
		}
	}
	return out
}

func (b bitset) count() (n int32) {
	for _, x := range b {
		n += int32(ones.OnesCount8(x))
	}
	return n
}

// trimmed returns the same set without trailing zero bytes.
func (b bitset) trimmed() bitset {
	n := len(b)
	for n > 0 && b[n-1] == 0 {
		n--
	}
	return b[:n]
}
