package audit

// bitset is a growing set of small numbers. Each of ten thousand subscribers has one, so it takes
// only a bit per event.
type bitset []uint64

func (b bitset) has(i int) bool {
	return i>>6 < len(b) && b[i>>6]&(1<<(i&63)) != 0
}

// add reports whether i was new.
func (b *bitset) add(i int) bool {
	if b.has(i) {
		return false
	}
	for i>>6 >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[i>>6] |= 1 << (i & 63)
	return true
}
