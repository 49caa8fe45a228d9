package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
)

// RefKind is the reason why a reference cannot be resolved.
type RefKind int

const (
	// RefMalformed is a text that is not a URI reference, or has a scheme that is not followed.
	RefMalformed RefKind = iota
	// RefMissing is a missing file, or an $id without a document.
	RefMissing
	// RefNoPlace is an anchor or pointer that the document lacks.
	RefNoPlace
	// RefUnknown is an address that the library does not have and does not fetch.
	RefUnknown
	// RefUnreachable is an address that could not be fetched or is not permitted to be fetched, or
	// a document beyond maxLoads.
	RefUnreachable
	// RefBroken is a document that could not be read.
	RefBroken
	// RefOutside is a file outside the folders of the library.
	RefOutside
)

// RefError is an unresolved reference with the reason.
type RefError struct {
	Kind   RefKind
	Ref    string
	Reason string
}

func (e *RefError) Error() string { return fmt.Sprintf("%q: %s", Brief(e.Ref), e.Reason) }

// Target is a place in a document.
type Target struct {
	// Resource is the resource of the whole document. It is nil for the schemas of JSON Schema
	// itself, which every validator contains.
	Resource *Resource
	// Pointer is from the root of the document.
	Pointer string
	Value   any
	// External is the address of a schema of JSON Schema itself.
	External string
}

// link is a reference and the resource that contains it.
type link struct {
	from *Resource
	ref  string
}

// Resolve resolves a reference in the resource from. The error is a *RefError.
func (l *Library) Resolve(from *Resource, ref string) (Target, error) {
	if t, ok := l.resolved[link{from, ref}]; ok {
		return t, nil
	}
	t, err := l.follow(from, ref)
	if err == nil {
		l.resolved[link{from, ref}] = t
	}
	return t, err
}

func (l *Library) follow(from *Resource, ref string) (Target, error) {
	u, err := url.Parse(ref)
	if err != nil {
		return Target{}, &RefError{Kind: RefMalformed, Ref: ref, Reason: "not a URI reference"}
	}
	fragment := u.Fragment
	u.Fragment, u.RawFragment = "", ""
	if strings.HasPrefix(u.String(), "https://json-schema.org/draft/") {
		return Target{External: ref}, nil
	}
	to := from
	if u.String() != "" {
		if to, err = l.document(from, u); err != nil {
			if e := (*RefError)(nil); errors.As(err, &e) {
				e.Ref = ref
			}
			return Target{}, err
		}
	}
	return to.place(fragment, ref)
}

func (l *Library) document(from *Resource, u *url.URL) (*Resource, error) {
	if u.IsAbs() {
		if u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "urn" {
			return nil, &RefError{Kind: RefMalformed, Reason: fmt.Sprintf("scheme %q is not followed", Brief(u.Scheme))}
		}
		return l.ByID(u.String())
	}
	var beside error
	if path := from.Top.path; path != "" && u.Host == "" && u.Path != "" {
		r, err := l.beside(path, u.Path)
		if err == nil {
			return r, nil
		}
		if e := (*RefError)(nil); !errors.As(err, &e) || e.Kind != RefMissing && e.Kind != RefOutside {
			return nil, err
		}
		beside = err
	}
	if id := absoluteID(u.String(), from.ID); id != "" {
		r, err := l.ByID(id)
		if e := (*RefError)(nil); beside == nil || err == nil || !errors.As(err, &e) || e.Kind != RefUnknown {
			return r, err
		}
	}
	if beside != nil {
		return nil, beside
	}
	return nil, &RefError{Kind: RefMissing, Reason: "it is relative, and its document has neither a file nor an $id"}
}

// beside resolves a relative reference to a file, starting from the folder of path.
func (l *Library) beside(path, relative string) (*Resource, error) {
	file := filepath.Join(filepath.Dir(path), filepath.FromSlash(relative))
	if r := l.byFile[file]; r != nil {
		return r, nil
	}
	missing := &RefError{Kind: RefMissing, Reason: "there is no such file beside it"}
	if len(l.roots) == 0 || filepath.IsAbs(relative) {
		return nil, missing
	}
	if !l.within(file) {
		return nil, &RefError{Kind: RefOutside, Reason: "it leads out of the folder"}
	}
	if e, ok := l.failed[file]; ok {
		return nil, &e
	}
	if err := l.mayLoad(relative); err != nil {
		return nil, err
	}
	r, err := l.AddFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, l.fail(file, *missing)
	}
	if err != nil {
		return nil, l.fail(file, RefError{Kind: RefBroken, Reason: err.Error()})
	}
	return r, nil
}

// place resolves a fragment: a JSON Pointer or an anchor.
func (r *Resource) place(fragment, ref string) (Target, error) {
	pointer := fragment
	if fragment != "" && fragment[0] != '/' {
		p, ok := r.anchor(fragment)
		if !ok {
			return Target{}, &RefError{Kind: RefNoPlace, Ref: ref, Reason: fmt.Sprintf("there is no anchor %q", Brief(fragment))}
		}
		pointer = strings.TrimPrefix(p, r.Pointer)
	}
	pointer = r.Pointer + pointer
	value, ok := Lookup(r.Doc.Value, pointer)
	if !ok {
		return Target{}, &RefError{Kind: RefNoPlace, Ref: ref, Reason: fmt.Sprintf("%s has nothing at %q", Brief(r.Doc.File), Brief(fragment))}
	}
	return Target{Resource: r.Top, Pointer: pointer, Value: value}, nil
}

func (r *Resource) anchor(name string) (string, bool) {
	r.findAnchors()
	p, ok := r.anchors[name]
	return p, ok
}

func (r *Resource) findAnchors() {
	if r.anchors != nil {
		return
	}
	r.anchors, r.dynamic = map[string]string{}, map[string]string{}
	Walk(r.Doc.Value, func(pointer string, node map[string]any) {
		if r.At(pointer) != r {
			return
		}
		if a, ok := node["$anchor"].(string); ok {
			r.anchors[a] = pointer
		}
		if a, ok := node["$dynamicAnchor"].(string); ok {
			r.anchors[a], r.dynamic[a] = pointer, pointer
		}
	})
}
