package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
)

// lookups reads single rows. Requests that arrive while maxAsking statements are in progress share
// the next statement. A statement for a few dozen rows costs about as much as one for a single row.
type lookups struct {
	store *Store

	mu      sync.Mutex
	waiting []*lookup
	asking  int // statements in progress
}

// lookup is one requested row.
type lookup struct {
	table string
	key   []byte
	// These fields are set before done is closed. value stays nil if the row does not exist.
	value []byte
	err   error
	done  chan struct{}
}

const (
	// maxAsking is the maximum number of concurrent statements. Each uses a connection.
	maxAsking = 2
	// maxLookups is the maximum number of rows in one statement.
	maxLookups = 128
	// getRows must not be planned as a join. With offset 0, each row is found by its key.
	getRows = `select n, value from unnest($1::text[], $2::bytea[]) with ordinality as u(t, k, n),
		lateral (select value from rows where tbl = t and key = k and ` + visible + ` offset 0) as r`
)

// get returns a row as stored, or nil if it does not exist. The result includes everything
// acknowledged before the call.
func (l *lookups) get(table string, key []byte) ([]byte, error) {
	one := &lookup{table: table, key: key, done: make(chan struct{})}
	l.mu.Lock()
	l.waiting = append(l.waiting, one)
	start := l.asking < maxAsking
	if start {
		l.asking++
	}
	l.mu.Unlock()
	if start {
		go l.run()
	}
	<-one.done
	return one.value, one.err
}

// run executes statements until no caller is waiting.
func (l *lookups) run() {
	for {
		l.mu.Lock()
		all := l.waiting
		l.waiting = nil
		if len(all) > maxLookups {
			all, l.waiting = all[:maxLookups:maxLookups], all[maxLookups:]
		}
		if len(all) == 0 {
			l.asking--
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		l.ask(all)
	}
}

func (l *lookups) ask(all []*lookup) {
	tables, keys := make([]string, len(all)), make([][]byte, len(all))
	for i, one := range all {
		tables[i], keys[i] = one.table, one.key
	}
	err := l.store.ask(func(ctx context.Context) error {
		for _, one := range all {
			one.value = nil // an interrupted response may have set it
		}
		rows, err := l.store.pool.Query(ctx, getRows, tables, keys)
		if err != nil {
			return err
		}
		var n int
		var value []byte
		_, err = pgx.ForEachRow(rows, []any{&n, &value}, func() error {
			all[n-1].value = value
			return nil
		})
		return err
	})
	for _, one := range all {
		one.err = err
		close(one.done)
	}
}
