package memory

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"atelier/actors/durable"
)

// Expired rows are removed even if nobody reads them.
func TestExpiredRowsAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newContent()
		put := func(n int, ttl time.Duration) {
			rows := make([]durable.Row, n)
			for i := range rows {
				rows[i] = durable.Row{Table: "t", Key: fmt.Append(nil, ttl, i), Value: []byte("v"), TTL: ttl}
			}
			c.put(rows)
		}
		put(sweepEvery/2, time.Minute)
		time.Sleep(2 * time.Minute)
		put(sweepEvery/2, time.Hour)
		if n := len(c.rows["t"]); n != sweepEvery/2 {
			t.Errorf("%d rows remain", n)
		}
	})
}
