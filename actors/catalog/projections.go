package catalog

import (
	"errors"
	"fmt"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/internal/pbwire"
	"atelier/actors/usage"
)

// Codelabs write these tables in the commits of their changes, so that queries across all codelabs
// need no codelab in memory. The keys are codelab ids.
const (
	usageTable     = "aiusage"
	workspaceTable = "workspaces"
	figuresTable   = "figures"
	claimantsTable = "claimants"
	leavingTable   = "leaving"
)

// UsageRow returns the row with a codelab's use of the AI.
func UsageRow(codelab string, models []*usage.AIUsage) durable.Row {
	return projection(usageTable, codelab, &pb.AIUsages{Models: models})
}

// FiguresRow returns the row with the figures that the list of codelabs shows in addition to the
// records.
func FiguresRow(codelab string, f *pb.Figures) durable.Row {
	return projection(figuresTable, codelab, f)
}

// WorkspaceRow returns the row with a codelab's workspace.
func WorkspaceRow(codelab string, w *pb.Workspace) durable.Row {
	return projection(workspaceTable, codelab, w)
}

// NoWorkspaceRow returns the row that removes a codelab's workspace from the table.
func NoWorkspaceRow(codelab string) durable.Row {
	return durable.Row{Table: workspaceTable, Key: []byte(codelab), Delete: true}
}

// ClaimantsRow returns the row with the people who have claimed requests for help. If persons is
// empty, the returned row removes the stored one.
func ClaimantsRow(codelab string, persons []string) durable.Row {
	if len(persons) == 0 {
		return durable.Row{Table: claimantsTable, Key: []byte(codelab), Delete: true}
	}
	return projection(claimantsTable, codelab, &pb.Claimants{Persons: persons})
}

// Claimants reads the people who have claimed requests, for all codelabs.
func Claimants(journal durable.Journal, fn func(codelab string, persons []string)) error {
	return project(journal, claimantsTable, func(codelab string, value []byte) error {
		c := &pb.Claimants{}
		if err := c.Decode(value); err != nil {
			return err
		}
		fn(codelab, c.Persons)
		return nil
	})
}

// LeavingRow returns the row of a codelab that still has anonymous questions of people who erased
// themselves; these questions are removed later. If leaving is false, the row removes the stored
// one.
func LeavingRow(codelab string, leaving bool) durable.Row {
	return durable.Row{Table: leavingTable, Key: []byte(codelab), Delete: !leaving}
}

// Leaving reads the codelabs with such a row. Their questions can be gone already.
func Leaving(journal durable.Journal) (map[string]bool, error) {
	codelabs := map[string]bool{}
	err := project(journal, leavingTable, func(codelab string, _ []byte) error {
		codelabs[codelab] = true
		return nil
	})
	return codelabs, err
}

// GoneRows returns the rows that remove a codelab from the list and from these tables.
func GoneRows(codelab string) []durable.Row {
	return []durable.Row{
		UnlistRow(codelab), NoWorkspaceRow(codelab), ClaimantsRow(codelab, nil), LeavingRow(codelab, false),
		{Table: usageTable, Key: []byte(codelab), Delete: true}, {Table: figuresTable, Key: []byte(codelab), Delete: true},
	}
}

func projection(table, codelab string, m pbwire.Message) durable.Row {
	value := pbwire.Encode(m)
	return durable.Row{Table: table, Key: []byte(codelab), Value: value}
}

// Usages reads the use of the AI in each codelab, ordered by id.
func (l *List) Usages(fn func(codelab string, models []*usage.AIUsage)) error {
	return project(l.journal, usageTable, func(codelab string, value []byte) error {
		u := &pb.AIUsages{}
		if err := u.Decode(value); err != nil {
			return err
		}
		fn(codelab, u.Models)
		return nil
	})
}

// Figures reads the figures of the given codelabs, and possibly of others. Codelabs that have not
// changed since the program began to record figures are missing.
func (l *List) Figures(of []*pb.Codelab) (map[string]*pb.Figures, error) {
	out := make(map[string]*pb.Figures, len(of))
	keep := func(codelab string, value []byte) error {
		f := &pb.Figures{}
		out[codelab] = f
		return f.Decode(value)
	}
	if len(of) > maxGets || len(of)*rowsForGet > len(l.All()) {
		return out, project(l.journal, figuresTable, keep)
	}
	for _, m := range of {
		value, err := l.journal.Get(figuresTable, []byte(m.Id))
		if errors.Is(err, durable.ErrNotFound) {
			continue
		}
		if err == nil {
			err = keep(m.Id, value)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", figuresTable, err)
		}
	}
	return out, nil
}

// Figures reads up to maxGets rows one by one, if the list has at least rowsForGet times as many
// codelabs. Otherwise it reads the whole table.
const (
	maxGets    = 1000
	rowsForGet = 20
)

// Workspaces reads the workspaces of all codelabs, ordered by id.
func Workspaces(journal durable.Journal, fn func(codelab string, w *pb.Workspace)) error {
	return project(journal, workspaceTable, func(codelab string, value []byte) error {
		w := &pb.Workspace{}
		if err := w.Decode(value); err != nil {
			return err
		}
		fn(codelab, w)
		return nil
	})
}

func project(journal durable.Journal, table string, fn func(codelab string, value []byte) error) error {
	var failed error
	err := journal.Scan(durable.Scan{Table: table}, func(key, value []byte) bool {
		failed = fn(string(key), value)
		return failed == nil
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", table, err)
	}
	return nil
}
