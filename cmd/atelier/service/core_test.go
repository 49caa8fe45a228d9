package service

import (
	"errors"
	"strings"
	"testing"

	"atelier/actors/durable"
)

// brokenStore is one that has stopped writing.
type brokenStore struct {
	durable.Store
	failed error
}

func (s brokenStore) Stats() durable.StoreStats { return durable.StoreStats{Failed: s.failed} }

// A start that failed because the disk did said "no answer in time" and no more.
func TestErrorsOfAStartTellThatTheDiskFailed(t *testing.T) {
	disk, late := errors.New("input/output error"), durable.ErrTimeout
	c := &Core{store: brokenStore{failed: disk}}
	if err := c.explain(late); !errors.Is(err, late) || !errors.Is(err, disk) || !strings.Contains(err.Error(), disk.Error()) {
		t.Errorf("the error is %v", err)
	}
	for name, err := range map[string]error{
		"told already": c.explain(disk), "nothing failed": (&Core{store: brokenStore{}}).explain(disk),
		"no store": (&Core{}).explain(disk), "nothing open": (*Core)(nil).explain(disk),
	} {
		if err != disk {
			t.Errorf("%s: %v", name, err)
		}
	}
}
