package codelab

import ones "math/bits"

// bitset is a set of list indexes, with a bit per index. Methods that return a bitset copy it.
type bitset []byte

func (b bitset) has(i int) bool { return i/8 < len(b) && b[i/8]&(1<<(i%8)) != 0 }

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

// with returns the union.
func (b bitset) with(o bitset) bitset {
	out := make(bitset, max(len(b), len(o)))
	copy(out, b)
	for i, x := range o {
		out[i] |= x
	}
	return out
}

// without returns the set after index i was removed from the list.
func (b bitset) without(i int) bitset {
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

// trimmed returns the set without trailing zeros.
func (b bitset) trimmed() bitset {
	n := len(b)
	for n > 0 && b[n-1] == 0 {
		n--
	}
	return b[:n]
}
