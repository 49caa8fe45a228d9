package git

import (
	"bufio"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"atelier/actors/code"
)

// Limits of a push: the bytes of its pack, the unpacked bytes of all objects and deltas, the number
// of objects and deltas, and the bytes of one delta.
const (
	MaxPack     = 64 << 20
	maxUnpacked = 256 << 20
	maxObjects  = 100_000
	maxDelta    = 2 * code.MaxFile
)

// Kinds of deltas in a pack. A placeDelta contains the distance to its base, which precedes it in
// the pack. A nameDelta contains the name of its base.
const (
	placeDelta code.ObjectKind = 6
	nameDelta  code.ObjectKind = 7
)

var errPack = code.Fault("the pack is damaged")

// Pushed contains a pack's objects, in a file. It is not safe for concurrent use. The caller closes
// it.
type Pushed struct {
	file *os.File
	end  int64 // of the file
	at   map[string]span
}

var _ code.Objects = (*Pushed)(nil)

// span is the range of an object or a delta in the file.
type span struct {
	kind       code.ObjectKind
	from, size int64
}

// Close closes the file.
func (p *Pushed) Close() error { return p.file.Close() }

// Stat implements code.Objects.
func (p *Pushed) Stat(name string) (kind code.ObjectKind, size int64, ok bool) {
	s, ok := p.at[name]
	return s.kind, s.size, ok
}

// Content implements code.Objects.
func (p *Pushed) Content(name string) ([]byte, error) {
	s, ok := p.at[name]
	if !ok {
		return nil, code.ErrNotFound
	}
	return p.read(s)
}

func (p *Pushed) read(s span) ([]byte, error) {
	b := make([]byte, s.size)
	if _, err := p.file.ReadAt(b, s.from); err != nil && s.size > 0 {
		return nil, fmt.Errorf("read a pushed object: %w", err)
	}
	return b, nil
}

// room returns an error if size more unpacked bytes exceed the limit.
func (p *Pushed) room(size int64) error {
	if p.end+size > maxUnpacked {
		return code.Fault("the push has more than %d MiB when it is unpacked: push less at a time", maxUnpacked>>20)
	}
	return nil
}

// delta is an object that is encoded as the difference from another.
type delta struct {
	span
	place int64 // offset of the object in the pack
}

// Unpack unpacks a pack into a separate file. If the base of a delta is not in the pack, the
// function base returns it; ok is false if no object has this name. Errors for the client are
// *code.Problem.
func Unpack(pack io.ReaderAt, size int64, file *os.File, base func(name string) (o code.Object, ok bool, err error)) (_ *Pushed, err error) {
	p := &Pushed{file: file, at: map[string]span{}}
	u := &unpacking{Pushed: p, byPlace: map[int64][]delta{}, byName: map[string][]delta{}, places: map[int64]string{}}
	if err := u.scan(pack, size); err != nil {
		return nil, err
	}
	for place, name := range u.places {
		u.resolvable(name, place)
	}
	if err := u.resolve(); err != nil {
		return nil, err
	}
	for len(u.byName) > 0 {
		found := false
		for name := range u.byName {
			o, ok, err := base(name)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			found = true
			children := u.byName[name]
			delete(u.byName, name)
			if err := u.derive(o.Kind, o.Content, children); err != nil {
				return nil, err
			}
			if err := u.resolve(); err != nil {
				return nil, err
			}
		}
		if !found {
			break
		}
	}
	if len(u.byName)+len(u.byPlace) > 0 {
		return nil, code.Fault("the pack has deltas whose base is missing, or that form a cycle")
	}
	return p, nil
}

type unpacking struct {
	*Pushed
	// byPlace and byName contain the deltas whose base has not been found yet.
	byPlace map[int64][]delta
	byName  map[string][]delta
	places  map[int64]string // offsets of non-delta objects in the pack
	todo    []found
	z       io.ReadCloser // reused
	derived int64         // bytes produced from deltas
}

// found is an object on which deltas are based.
type found struct {
	name  string
	place int64
}

// resolvable records an object if deltas are based on it.
func (u *unpacking) resolvable(name string, place int64) {
	if len(u.byPlace[place])+len(u.byName[name]) > 0 {
		u.todo = append(u.todo, found{name, place})
	}
}

// resolve converts all deltas with a known base to objects.
func (u *unpacking) resolve() error {
	for len(u.todo) > 0 {
		next := u.todo[len(u.todo)-1]
		u.todo = u.todo[:len(u.todo)-1]
		children := append(u.byPlace[next.place], u.byName[next.name]...)
		delete(u.byPlace, next.place)
		delete(u.byName, next.name)
		if len(children) == 0 {
			continue
		}
		content, err := u.Content(next.name)
		if err == nil {
			err = u.derive(u.at[next.name].kind, content, children)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// derive converts the deltas of one base to objects.
func (u *unpacking) derive(kind code.ObjectKind, base []byte, children []delta) error {
	for _, d := range children {
		how, err := u.read(d.span)
		if err != nil {
			return err
		}
		content, err := u.apply(base, how)
		if err != nil {
			return err
		}
		name := NameOf(kind, content)
		if _, known := u.at[name]; !known {
			if _, err := u.file.WriteAt(content, u.end); err != nil {
				return fmt.Errorf("write a pushed object: %w", err)
			}
			u.at[name] = span{kind, u.end, int64(len(content))}
			u.end += int64(len(content))
		}
		u.resolvable(name, d.place)
		// Objects that already exist also count. Otherwise many deltas with the same result would
		// have an unbounded cost.
		if u.derived += int64(len(content)); u.derived > maxUnpacked {
			return code.Fault("the push has more than %d MiB when it is unpacked: push less at a time", maxUnpacked>>20)
		}
	}
	return nil
}

// apply applies a delta to a base (gitformat-pack, "Deltified representation").
func (u *unpacking) apply(base, how []byte) ([]byte, error) {
	from, how, ok := sizeOf(how)
	if !ok || from != uint64(len(base)) {
		return nil, errPack
	}
	size, how, ok := sizeOf(how)
	if !ok {
		return nil, errPack
	}
	if size > code.MaxFile {
		return nil, errLarge
	}
	if err := u.room(int64(size)); err != nil {
		return nil, err
	}
	out := make([]byte, 0, size)
	for len(how) > 0 {
		op := how[0]
		how = how[1:]
		var piece []byte
		switch {
		case op&0x80 != 0:
			var place, n uint32
			for i := range 7 {
				if op&(1<<i) == 0 {
					continue
				}
				if len(how) == 0 {
					return nil, errPack
				}
				if i < 4 {
					place |= uint32(how[0]) << (8 * i)
				} else {
					n |= uint32(how[0]) << (8 * (i - 4))
				}
				how = how[1:]
			}
			if n == 0 {
				n = 0x10000
			}
			if uint64(place)+uint64(n) > uint64(len(base)) {
				return nil, errPack
			}
			piece = base[place : place+n]
		case op == 0 || int(op) > len(how):
			return nil, errPack
		default:
			piece, how = how[:op], how[op:]
		}
		if uint64(len(out)+len(piece)) > size {
			return nil, errPack
		}
		out = append(out, piece...)
	}
	if uint64(len(out)) != size {
		return nil, errPack
	}
	return out, nil
}

var errLarge = code.Fault("a file is larger than %d MiB", code.MaxFile>>20)

// sizeOf parses a size at the beginning of a delta.
func sizeOf(b []byte) (n uint64, rest []byte, ok bool) {
	for i := 0; i < len(b) && i < 8; i++ {
		n |= uint64(b[i]&0x7f) << (7 * i)
		if b[i]&0x80 == 0 {
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}

// scan writes the content of a pack into the file: the objects, and the deltas, which are resolved
// later.
func (u *unpacking) scan(pack io.ReaderAt, size int64) error {
	if size < packHeadSize+sha1.Size {
		return errPack
	}
	sum := sha1.New()
	body := size - sha1.Size
	if _, err := io.Copy(sum, io.NewSectionReader(pack, 0, body)); err != nil {
		return fmt.Errorf("read a pack: %w", err)
	}
	want := make([]byte, sha1.Size)
	if _, err := pack.ReadAt(want, body); err != nil {
		return fmt.Errorf("read a pack: %w", err)
	}
	if string(sum.Sum(nil)) != string(want) {
		return errPack
	}
	in := &counted{Reader: bufio.NewReaderSize(io.NewSectionReader(pack, 0, body), 64<<10)}
	head := make([]byte, packHeadSize)
	if _, err := io.ReadFull(in, head); err != nil || string(head[:len(packHead)]) != packHead {
		return errPack
	}
	count := binary.BigEndian.Uint32(head[len(packHead):])
	if count > maxObjects {
		return code.Fault("the push has more than %d objects: push less at a time", maxObjects)
	}
	for range count {
		if err := u.next(in); err != nil {
			return err
		}
	}
	if in.n != body {
		return errPack
	}
	return nil
}

// next reads an object or a delta of the pack.
func (u *unpacking) next(in *counted) error {
	place := in.n
	b, err := in.ReadByte()
	if err != nil {
		return errPack
	}
	kind, size := code.ObjectKind(b>>4&7), uint64(b&0xf)
	for shift := 4; b&0x80 != 0; shift += 7 {
		if b, err = in.ReadByte(); err != nil || shift > 32 {
			return errPack
		}
		size |= uint64(b&0x7f) << shift
	}
	d := delta{span: span{kind, u.end, int64(size)}, place: place}
	switch kind {
	case code.CommitObject, code.TreeObject, code.BlobObject:
		if size > code.MaxFile {
			return errLarge
		}
		h := sha1.New()
		fmt.Fprintf(h, "%s %d\x00", kind, size)
		if err := u.inflate(in, d.span, h); err != nil {
			return err
		}
		name := hex.EncodeToString(h.Sum(nil))
		u.at[name], u.places[place] = d.span, name
		return nil
	case placeDelta:
		back, err := backOf(in)
		if err != nil || back > place-packHeadSize {
			return errPack
		}
		u.byPlace[place-back] = append(u.byPlace[place-back], d)
	case nameDelta:
		id := make([]byte, sha1.Size)
		if _, err := io.ReadFull(in, id); err != nil {
			return errPack
		}
		name := hex.EncodeToString(id)
		u.byName[name] = append(u.byName[name], d)
	case 4:
		return code.Fault("this server stores no tags")
	default:
		return errPack
	}
	if size > maxDelta {
		return errLarge
	}
	return u.inflate(in, d.span, nil)
}

// backOf parses the distance from a delta back to its base.
func backOf(in *counted) (int64, error) {
	b, err := in.ReadByte()
	n := int64(b & 0x7f)
	for i := 0; err == nil && b&0x80 != 0; i++ {
		if i > 5 {
			return 0, errPack
		}
		b, err = in.ReadByte()
		n = (n+1)<<7 | int64(b&0x7f)
	}
	if err == nil && n == 0 {
		err = errPack
	}
	return n, err
}

// inflate appends decompressed bytes to the file, exactly as many as announced.
func (u *unpacking) inflate(in *counted, s span, sum hash.Hash) error {
	if err := u.room(s.size); err != nil {
		return err
	}
	if u.z == nil {
		z, err := zlib.NewReader(in)
		if err != nil {
			return errPack
		}
		u.z = z
	} else if err := u.z.(zlib.Resetter).Reset(in, nil); err != nil {
		return errPack
	}
	var to io.Writer = io.NewOffsetWriter(u.file, s.from)
	out := bufio.NewWriter(to)
	to = out
	if sum != nil {
		to = io.MultiWriter(out, sum)
	}
	if n, err := io.Copy(to, io.LimitReader(u.z, s.size)); err != nil || n != s.size {
		return broken(err)
	}
	// The stream must end here, with a valid checksum.
	if n, err := u.z.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		return broken(err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write a pushed object: %w", err)
	}
	u.end += s.size
	return nil
}

// broken returns errPack for a stream that lacks the announced content. An error of the disk is
// returned unchanged.
func broken(err error) error {
	var disk *os.PathError
	if errors.As(err, &disk) {
		return err
	}
	return errPack
}

// counted counts the bytes read.
type counted struct {
	*bufio.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += int64(n)
	return n, err
}

func (c *counted) ReadByte() (byte, error) {
	b, err := c.Reader.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}
