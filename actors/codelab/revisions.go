package codelab

import (
	"slices"

	"google.golang.org/protobuf/proto"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// Revisions contains the seqs of the last edits of the parts that are edited as a whole. Unlike
// Changed, it is part of snapshots, so that an editor that stayed open during a restart still
// detects another person's edit.
type Revisions struct {
	// Codelab is the revision of the settings and the steps.
	Codelab uint64
	Quizzes uint64
}

// Edited is the reply to Update, ReplaceSteps and ReplaceQuizzes.
type Edited struct {
	// Codelab or Quizzes is the result of the edit; an edit of steps has neither.
	Codelab *pb.Codelab
	Quizzes []*pb.Quiz
	// Revision is the new revision. Seq is the position in the stream from which
	// readers see the edit.
	Revision, Seq uint64
}

var errOutdated = &durable.Rejection{Reason: durable.Outdated, Text: "somebody else has changed this meanwhile: read it again"}

// current rejects an edit of an outdated revision. Because the check is part of the decision, only
// the first of several edits of the same revision succeeds.
func (c call) current(cmd Command) error {
	if cmd.IfMatch == nil {
		return nil
	}
	present := c.s.revisions.Codelab
	if _, quizzes := cmd.Body.(ReplaceQuizzes); quizzes {
		present = c.s.revisions.Quizzes
	}
	if !slices.Contains(cmd.IfMatch, present) {
		return errOutdated
	}
	return nil
}

// onlySwitched reports whether two records of a codelab differ only in fields that no editor shows,
// such as whether registration is open.
func onlySwitched(old, m *pb.Codelab) bool {
	if old == nil || m == nil {
		return false
	}
	m = m.Clone()
	m.RegistrationClosed, m.EndedAt = old.RegistrationClosed, old.EndedAt
	m.DeletionAt, m.Extent = old.DeletionAt, old.Extent
	return proto.Equal(m, old)
}
