package rest

import (
	"strconv"
	"strings"

	"atelier/actors/codelab"
)

// fresh sets the entity tag for a read. changed is the seq at which the data last changed. If the
// client already has that version, fresh responds with 304 and returns true. variant distinguishes
// the responses for different callers.
func (r *Request) fresh(changed uint64, variant string) bool {
	return r.freshAs(r.stream8() + "-" + shown(changed, variant))
}

// freshRevision does the same as fresh for objects that are edited as a whole. The part of the tag
// up to the dot identifies the revision, and an edit compares only this part.
func (r *Request) freshRevision(revision, changed uint64, variant string) bool {
	return r.freshAs(r.revision(revision) + "." + shown(changed, variant))
}

// madeEdition sets the entity tag that an editor gets after an edit.
func (r *Request) madeEdition(e codelab.Edited) {
	r.Response.Header.Set("ETag", `"`+r.revision(e.Revision)+"."+shown(e.Seq, variantAdmin)+`"`)
}

// Response variants for facilitators and for others.
const (
	variantAdmin  = "a"
	variantOthers = "t"
	// variantAnyone is the variant for people who are not registered, if their response differs.
	variantAnyone = "n"
	// variantOrphan is the facilitators' variant for a copy whose source no longer exists.
	variantOrphan = "o"
)

func (r *Request) variant() string {
	if r.IsAdmin() {
		return variantAdmin
	}
	return variantOthers
}

func shown(changed uint64, variant string) string {
	return strconv.FormatUint(changed, 36) + "-" + variant
}

// revision returns the first part of a tag. It includes the stream's id, because after a restore
// from a backup the same seq can be another edit.
func (r *Request) revision(seq uint64) string {
	return r.stream8() + "-" + strconv.FormatUint(seq, 36)
}

func (r *Request) stream8() string { return r.api.StreamID[:min(8, len(r.api.StreamID))] }

func (r *Request) freshAs(tag string) bool { return r.Fresh(tag, "private, no-cache") }

// ifMatch returns the revisions that an edit is allowed to replace. nil means any revision, and an
// empty slice means none.
func (r *Request) ifMatch() []uint64 {
	tags, star := r.Tags("If-Match")
	if star || len(r.Request.Header.PeekAll("If-Match")) == 0 {
		return nil
	}
	out := []uint64{}
	for _, tag := range tags {
		revision, _, _ := strings.Cut(tag, ".")
		seq, ok := strings.CutPrefix(revision, r.stream8()+"-")
		if n, err := strconv.ParseUint(seq, 36, 64); ok && err == nil {
			out = append(out, n)
		}
	}
	return out
}
