package trees

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"atelier/actors/code"
	"atelier/persistence/objects"
)

// maxPlainBundles is the maximum number of trees to which a plain tree can refer. Without it, many
// objects would have to be kept for a few files.
const maxPlainBundles = 16

// builder builds the object of a tree.
type builder struct {
	manifest
	contents bytes.Buffer
	at       map[string]int64 // offsets of contents, by sum
	bundles  map[bundle]int   // positions in Bundles, from 1
}

func newBuilder(kind code.Kind) *builder {
	return &builder{manifest: manifest{Kind: kind, Files: []file{}}, at: map[string]int64{}, bundles: map[bundle]int{}}
}

// bring adds a file with its content to the object.
func (b *builder) bring(path string, content []byte, mode code.Mode) {
	f := file{Path: path, Sum: sumOf(content), Size: int64(len(content)), Executable: mode == code.Executable, Form: textForm}
	if code.Binary(content) {
		f.Form = binaryForm
	}
	if b.Kind == code.Git {
		f.Git = plumbing.ComputeHash(plumbing.BlobObject, content).String()
	}
	at, known := b.at[f.Sum]
	if !known {
		at = int64(b.contents.Len())
		b.at[f.Sum] = at
		b.contents.Write(content)
	}
	f.At = at
	b.Files = append(b.Files, f)
}

// take adds a file whose content is in another tree's object.
func (b *builder) take(f file, src bundle) {
	n, known := b.bundles[src]
	if !known {
		b.Bundles = append(b.Bundles, src)
		n = len(b.Bundles)
		b.bundles[src] = n
	}
	f.In = n
	b.Files = append(b.Files, f)
}

// put stores the tree's object.
func (b *builder) put(ctx context.Context, to objects.Store, id string) error {
	head, err := b.encode()
	if err != nil {
		return err
	}
	return objects.PutBytes(ctx, to, treeKey(id, b.Tree), append(head, b.contents.Bytes()...))
}

// Write implements code.Store.
func (s *Store) Write(id string, kind code.Kind, base string, c code.Change) (name string, err error) {
	if err := s.opts.Gate(); err != nil {
		return "", err
	}
	ctx := context.Background()
	if err := s.known(ctx, id, kind); err != nil {
		return "", err
	}
	before := &manifest{Kind: kind}
	if base != "" {
		if before, err = s.load(ctx, id, kind, base); err != nil {
			return "", err
		}
	}
	after, err := apply(before.entries(), c)
	if err != nil {
		return "", err
	}
	if err := s.grow(ctx, id, c); err != nil {
		return "", err
	}
	if err := s.repair(ctx, id, before, c.Write); err != nil {
		return "", err
	}
	b := newBuilder(kind)
	for _, path := range sorted(after) {
		if e := after[path]; e.Ref == "" {
			b.bring(path, e.Content, e.Mode)
		} else {
			b.take(*before.byPath[path], before.bundleOf(before.byPath[path]))
		}
	}
	if kind == code.Plain && len(b.Bundles) > maxPlainBundles {
		if b, err = s.bringAll(ctx, id, before, after); err != nil {
			return "", err
		}
	}
	if kind == code.Git {
		err = b.nameCommit(before, base, c)
	} else {
		b.Tree = randomTree()
	}
	if err != nil || b.Tree == base {
		return base, err
	}
	if err := b.put(ctx, s.opts.Objects, id); err != nil {
		return "", fmt.Errorf("write tree: %w", err)
	}
	s.remember(id, &b.manifest)
	return b.Tree, nil
}

func randomTree() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // rand.Read never fails
	return hex.EncodeToString(b[:])
}

// nameCommit creates the commit, and gives the tree the commit's name. If the change has no effect,
// the tree gets the name of the parent.
func (b *builder) nameCommit(before *manifest, base string, c code.Change) error {
	var parent *object.Commit
	if base != "" {
		var err error
		if parent, err = before.commit(); err != nil {
			return err
		}
		parent.Hash = plumbing.NewHash(base)
	}
	h, err := writeCommit(func(kind plumbing.ObjectType, encode func(plumbing.EncodedObject) error) (plumbing.Hash, error) {
		h, content, err := encoded(kind, encode)
		if kind == plumbing.CommitObject {
			b.Commit = content
		}
		return h, err
	}, parent, b.entries(), c)
	b.Tree = h.String()
	return err
}

// bringAll creates a tree that contains all of its contents, without references to other trees.
func (s *Store) bringAll(ctx context.Context, id string, before *manifest, after map[string]entry) (*builder, error) {
	sp, err := s.spool(id, before.Kind)
	if err != nil {
		return nil, err
	}
	defer sp.close()
	b := newBuilder(before.Kind)
	for _, path := range sorted(after) {
		content := after[path].Content
		if after[path].Ref != "" {
			if content, err = sp.read(ctx, before, before.byPath[path]); err != nil {
				return nil, err
			}
		}
		b.bring(path, content, after[path].Mode)
	}
	return b, nil
}

// grow adds the size of a change to the recorded size of the workspace and its history. It refuses
// the change if the sum is above the limit. Writes of other nodes are included only once the size
// is counted again, which happens if it is unknown here or the sum is above the limit.
func (s *Store) grow(ctx context.Context, id string, c code.Change) error {
	added := int64(4096)
	for _, f := range c.Write {
		added += int64(len(f.Content)) + 4096
	}
	return s.growBy(ctx, id, added)
}

// growBy is like grow, for a given number of bytes.
func (s *Store) growBy(ctx context.Context, id string, added int64) error {
	s.mu.Lock()
	size, known := s.sizes[id]
	s.mu.Unlock()
	if !known || size+added > maxWorkspace {
		size = 0
		err := s.opts.Objects.List(ctx, prefix+id+"/", func(i objects.Info) error {
			size += max(i.Size, 4096)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if size+added > maxWorkspace {
		return code.Fault("the workspace would be larger than %d MiB with its history", maxWorkspace>>20)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sizes) > maxRemembered {
		clear(s.sizes)
	}
	s.sizes[id] = size + added
	return nil
}
