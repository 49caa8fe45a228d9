package compose

import (
	"atelier/transport/commerce/library"
)

// Linker copies documents one by one, with references that name each by a
// number. Where many targets share documents, as in a lint run, each is copied
// once, which a Bundle for every target would not do. Owned by one goroutine.
type Linker struct{ b *bundler }

// NewLinker starts with nothing linked.
func NewLinker(lib *library.Library) *Linker {
	b := newBundler(lib, View{}, true)
	b.prefix = "urn:commerce:document:"
	return &Linker{b}
}

// Link gives the address of a target, and those documents it needs that have
// not been given before, by address.
func (l *Linker) Link(target library.Target) (address string, added map[string]any, err error) {
	if target.Resource == nil {
		return target.External, nil, nil
	}
	if address, err = l.b.refer(target); err != nil {
		return "", nil, err
	}
	added = map[string]any{}
	for len(l.b.queue) > 0 {
		doc := l.b.queue[0]
		l.b.queue = l.b.queue[1:]
		l.b.nodes = 0
		value, failed := copier{bundler: l.b, doc: doc}.schema("", doc.Doc.Value)
		if failed != nil {
			// The others are still wanted; this one stays missing for good.
			err = failed
			continue
		}
		added[l.b.prefix+l.b.names[doc]] = value
	}
	return address, added, err
}
