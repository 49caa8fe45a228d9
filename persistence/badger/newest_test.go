package badger

import (
	"sync"
	"testing"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/persistence/layout"
)

// The mark has the newest transaction even after two concurrent commits.
func TestTheMarkContainsTheNewestTransaction(t *testing.T) {
	s := openTest(t, small(t.TempDir()), hooks{})
	for n := range 200 {
		var both sync.WaitGroup
		for _, k := range []string{"a", "b"} {
			both.Go(func() {
				key := layout.AppendRowKey(nil, "t", []byte(k))
				if err := s.commitTxn([]badgerdb.Entry{{Key: key, Value: layout.Sealed(key, []byte("v"))}}, nil); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if newest := s.db.MaxVersion(); s.mark.state.version < newest {
			t.Fatalf("round %d: the mark has version %d, but %d was committed", n, s.mark.state.version, newest)
		}
	}
}
