package simulation

import (
	"context"
	"strings"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// night is a time without any activity. It is longer than the lifetime of a claim after its process
// has ended.
const night = 15 * time.Minute

// afterwards ends a run after a long time with all nodes down. One node starts and sweeps.
// Afterwards, only files that codelabs reference remain.
func (u *uploads) afterwards() {
	if u.w.plan.Uploaders == 0 || u.w.model.failed() != "" {
		return
	}
	time.Sleep(night)
	n := u.w.nodes[0]
	n.restart()
	s := n.server.Load()
	if s == nil {
		return
	}
	for range 2 { // items that the first sweep removes can hold the last references to files, which the second removes
		if _, err := s.files.Sweep(context.Background()); err != nil {
			u.w.model.fail("uploads", "a sweep after all clients ended: %v", err)
		}
	}
	want := rowSet{}
	for _, m := range s.list.All() {
		ws, err := s.labs.Get(m.Id)
		if err != nil {
			u.w.model.fail("answers", "codelab %s: %v", m.Id, err)
			break
		}
		u.lookAt("in the end", s, ws.View())
		want.addUses(m.Id, ws.View())
	}
	u.w.store.View(func(j durable.Journal) { u.checkLeft(j, want) })
	if err := n.close(); err != nil {
		u.w.model.fail("close", "node %s: %v", n.name, err)
	}
}

// rowSet contains records. Each is the table and the parts of the key, separated by spaces.
type rowSet map[string]bool

func (s rowSet) add(r durable.Row) { s[nameOf(r.Table, r.Key)] = true }

func nameOf(table string, key []byte) string {
	return table + " " + strings.ReplaceAll(string(key), "\x00", " ")
}

// addUses adds the records for the references in a codelab.
func (s rowSet) addUses(lab string, v *codelab.View) {
	for name, all := range references(v) {
		for _, r := range all {
			s.add(files.UseRow(name, lab, r.by))
		}
	}
	for _, work := range v.Submissions.All() {
		if len(work.Sum) > 0 {
			s.add(files.SubmissionRow(work.Sum, lab, work.Id))
		}
	}
}

// checkLeft compares the remaining files with the references.
func (u *uploads) checkLeft(j durable.Journal, want rowSet) {
	each := func(table string, fn func(key, value []byte)) {
		err := j.Scan(durable.Scan{Table: table}, func(k, v []byte) bool {
			fn(k, v)
			return true
		})
		if err != nil {
			u.w.model.fail("store", "%v", err)
		}
	}
	used := map[string]bool{}
	each("uploaduses", func(k, _ []byte) {
		name, _, _ := strings.Cut(string(k), "\x00")
		used[name] = true
	})
	each("uploads", func(k, v []byte) {
		up := &pb.Upload{}
		if err := up.Decode(v); err != nil {
			u.w.model.fail("store", "upload %s: %v", k, err)
		}
		if !used[up.Name] {
			u.w.model.fail("uploads", "upload %s remains although nothing refers to it", up.Name)
		}
		want.add(files.UploadRows(up)[1])
	})
	sums := map[string]bool{}
	left := rowSet{}
	for _, table := range []string{"uploaduses", "blobuses", "claims"} {
		each(table, func(k, _ []byte) {
			row := nameOf(table, k)
			if left[row] = true; !want[row] {
				u.w.model.fail("uploads", "row %q remains although nothing refers to it", row)
			}
			if sum, _, _ := strings.Cut(string(k), "\x00"); table == "blobuses" {
				sums[sum] = true
			}
		})
	}
	for row := range want {
		if !left[row] {
			u.w.model.fail("uploads", "row %q is missing", row)
		}
	}
	u.contents.mu.Lock()
	defer u.contents.mu.Unlock()
	for _, o := range u.contents.all {
		if !sums[o.sum.String()] {
			u.w.model.fail("uploads", "content %s remains although nothing refers to it", o.sum)
		}
	}
}
