package pbwire

import (
	"bytes"
	"maps"
	"slices"
)

// CloneAll copies a list of messages.
func CloneAll[M interface{ Clone() M }](list []M) []M {
	if list == nil {
		return nil
	}
	out := make([]M, len(list))
	for i, m := range list {
		out[i] = m.Clone()
	}
	return out
}

// CloneMap copies a map of messages.
func CloneMap[M interface{ Clone() M }](m map[string]M) map[string]M {
	out := maps.Clone(m)
	for k, v := range out {
		out[k] = v.Clone()
	}
	return out
}

// CloneBytes copies a list of byte slices.
func CloneBytes(list [][]byte) [][]byte {
	out := slices.Clone(list)
	for i, b := range out {
		out[i] = bytes.Clone(b)
	}
	return out
}

// CloneOptional copies an optional value.
func CloneOptional[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// Keys returns the keys of a map in descending order, the order of writing, so that the encoding is
// sorted.
func Keys[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m)) // one allocation
	slices.Sort(keys)
	slices.Reverse(keys)
	return keys
}

// Truth converts a boolean to a number.
func Truth(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
