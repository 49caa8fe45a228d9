package codelab

import (
	pb "atelier/actors/codelab/codelabpb"
)

// Directory finds, creates and deletes codelabs. Their actors run in this process, or on another
// node that this node follows.
type Directory interface {
	// Get returns a codelab, or a Missing rejection.
	Get(id string) (Codelab, error)
	// Create creates a codelab and returns its record.
	Create(caller *Caller, c *Create) (*pb.Codelab, error)
	// BySlug returns the id of the codelab with a slug, or "". claimed means that the assignment of
	// the slug is in progress or has failed. ClaimSlug reserves a slug for a codelab, before the
	// command that assigns the slug.
	BySlug(slug string) (id string, claimed bool, err error)
	ClaimSlug(slug, id string) (releaseSlug func(), err error)
	// Delete removes a codelab with all its data.
	Delete(caller *Caller, id string) error
	// Active returns the codelabs in memory, for example those with connected people.
	Active() []Codelab
	// Online returns the number of connected attendees of each codelab.
	Online() map[string]int
	// ReleaseClaims releases, in each codelab, the help requests claimed by people who no longer
	// lead it.
	ReleaseClaims(leads func(person, codelab string) bool) error
	// FindAttendee returns an attendee and a view of their codelab.
	FindAttendee(id string) (*View, *pb.Attendee, error)
}

var _ Directory = (*Codelabs)(nil)
