package journaltest

import (
	"testing"

	"atelier/actors/durable"
)

// Journal is a durable.Journal with Close, which every implementation has.
type Journal interface {
	durable.Journal
	Close() error
}

// Open opens the journal in dir. After a Close the suite calls it again with the same dir, to
// verify that all data survives. The journal should have a small queue, because that makes the
// suite faster.
type Open func(t testing.TB, dir string) Journal

// Run is the conformance suite. It tests every promise of the contract that can be tested without
// damaging the storage.
func Run(t *testing.T, open Open) {
	for _, group := range [][]conformance{
		logTests, fencingTests, snapshotTests, rewriteTests, rowTests, storeTests, modelTests,
	} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) {
				s := &subject{T: t, dir: t.TempDir(), openFn: open}
				s.Journal = open(t, s.dir)
				t.Cleanup(func() { s.must(s.Journal.Close()) })
				c.test(s)
			})
		}
	}
}

// conformance is one test of the suite.
type conformance struct {
	name string
	test func(s *subject)
}

// subject is the journal under test, with helpers.
type subject struct {
	*testing.T
	Journal
	dir    string
	openFn Open
}

// reopen closes the journal and opens it again.
func (s *subject) reopen() {
	s.Helper()
	s.must(s.Journal.Close())
	s.Journal = s.openFn(s.T, s.dir)
}

func (s *subject) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// log opens an actor's log.
func (s *subject) log(actor string) handle {
	s.Helper()
	l, err := s.Journal.Open(actor)
	s.must(err)
	return handle{Log: l, s: s}
}
