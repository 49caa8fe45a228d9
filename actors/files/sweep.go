package files

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"atelier/actors/clock"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// rowsAtOnce bounds the rows per commit of a removal.
const rowsAtOnce = 1000

// Swept contains the numbers of references, uploads and stored objects that a sweep removed.
type Swept struct{ References, Uploads, Contents int }

// Sweep removes references of deleted codelabs, and uploads and objects without references. It
// stops early if ctx ends.
func (r *Register) Sweep(ctx context.Context) (s Swept, err error) {
	if s.References, err = r.sweepReferences(); err != nil {
		return s, err
	}
	if s.Uploads, err = r.sweepUploads(ctx); err != nil {
		return s, err
	}
	s.Contents, err = r.blobs.Collect(func(sum Sum) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		return r.InUse(sum)
	})
	return s, err
}

// sweepReferences removes the references of deleted codelabs.
func (r *Register) sweepReferences() (int, error) {
	gone := map[string]bool{}
	var rows []durable.Row
	var failed error
	stale := func(codelab string) bool {
		g, known := gone[codelab]
		if !known {
			listed, err := r.listed(codelab)
			failed = errors.Join(failed, err)
			g = err == nil && !listed
			gone[codelab] = g
		}
		return g
	}
	removeStale := func(table string, codelabAt func(parts []string) string) error {
		err := r.journal.Scan(durable.Scan{Table: table}, func(k, _ []byte) bool {
			if lab := codelabAt(strings.Split(string(k), "\x00")); lab != "" && stale(lab) {
				rows = append(rows, durable.Row{Table: table, Key: append([]byte(nil), k...), Delete: true})
			}
			return failed == nil
		})
		return errors.Join(err, failed)
	}
	err := removeStale(uploadUseTable, func(parts []string) string { return parts[min(1, len(parts)-1)] })
	if err == nil {
		err = removeStale(blobUseTable, func(parts []string) string {
			if len(parts) == 4 && parts[1] == "s" {
				return parts[2]
			}
			return ""
		})
	}
	if err != nil {
		return 0, fmt.Errorf("look for references of deleted codelabs: %w", err)
	}
	return len(rows), r.commitInParts(rows)
}

func (r *Register) commitInParts(rows []durable.Row) error {
	for len(rows) > 0 {
		n := min(len(rows), rowsAtOnce)
		if err := durable.Commit(r.journal, durable.MakeUrgent(rows[:n:n])); err != nil {
			return fmt.Errorf("remove references: %w", err)
		}
		rows = rows[n:]
	}
	return nil
}

// sweepUploads removes uploads that are older than the grace period and have no reference.
func (r *Register) sweepUploads(ctx context.Context) (removed int, err error) {
	before := r.now().Add(-r.grace).UnixMilli()
	var old []string
	err = r.journal.Scan(durable.Scan{Table: uploadTable}, func(k, value []byte) bool {
		u := &pb.Upload{}
		if u.Decode(value) == nil && u.CreatedAt <= before {
			old = append(old, string(k))
		}
		return true
	})
	if err != nil {
		return 0, fmt.Errorf("look for unreferenced uploads: %w", err)
	}
	for _, name := range old {
		if err := ctx.Err(); err != nil {
			return removed, err
		}
		if err := r.drop(name); err != nil && !errors.Is(err, ErrMissing) {
			return removed, err
		}
		if _, err := r.Get(name); errors.Is(err, ErrMissing) {
			removed++
		}
	}
	return removed, nil
}

// SweepEvery sweeps now and at every interval until ctx ends.
func (r *Register) SweepEvery(ctx context.Context, c clock.Clock, every time.Duration, log *slog.Logger) {
	tick := c.NewTicker(every)
	defer tick.Stop()
	for {
		s, err := r.Sweep(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, durable.ErrReadOnly), errors.Is(err, durable.ErrClosed):
		case err != nil:
			log.Warn("removing unreferenced files failed; the next sweep tries again", "error", err)
		case s != (Swept{}):
			log.Info("removed unreferenced files", "references", s.References, "uploads", s.Uploads, "contents", s.Contents)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
	}
}

// Forgotten contains the files to which a deleted codelab or attendee, or a deleted message, has
// referred.
type Forgotten struct {
	// Uploads lists the names of uploads.
	Uploads []string
	// Submissions lists the removed submissions.
	Submissions []*pb.Submission
}

// Forget removes the references of a deleted codelab to the files in f. It also removes the
// uploads and stored objects in f that have no other references.
func (r *Register) Forget(codelab string, f Forgotten) error {
	var rows []durable.Row
	for _, name := range f.Uploads {
		for _, by := range []By{ByMaterial, ByText, ByTalk} {
			rows = append(rows, UnuseRow(name, codelab, by, 0))
		}
	}
	for _, s := range f.Submissions {
		if len(s.Sum) > 0 {
			rows = append(rows, NoSubmissionRow(s.Sum, codelab, s.Id))
		}
	}
	if err := r.commitInParts(rows); err != nil {
		return err
	}
	return r.Release(f)
}

// Release removes the uploads and objects in f that have no reference any more. The caller has
// already removed its own references in a commit.
func (r *Register) Release(f Forgotten) error {
	var sums [][]byte
	for _, s := range f.Submissions {
		sums = append(sums, s.Sum)
	}
	return errors.Join(r.Drop(f.Uploads...), r.Discard(sums...))
}
