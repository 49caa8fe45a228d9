package trees

import "sync"

// maxBinaries bounds the contents that binaries remembers; each takes about 100 bytes.
const maxBinaries = 100_000

// binaries remembers which contents are binary, so that a tree is read once to describe
// its files and not each time. The zero value is ready. Safe for concurrent use.
type binaries struct {
	mu    sync.Mutex
	known map[string]bool // by hash
}

// Is says whether the content with a hash is binary. If it does not know, it asks; the
// answer for an empty hash is not remembered.
func (b *binaries) Is(hash string, ask func() (bool, error)) (bool, error) {
	b.mu.Lock()
	binary, known := b.known[hash]
	b.mu.Unlock()
	if known {
		return binary, nil
	}
	binary, err := ask()
	if err != nil || hash == "" {
		return binary, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil || len(b.known) >= maxBinaries {
		b.known = map[string]bool{}
	}
	b.known[hash] = binary
	return binary, nil
}
