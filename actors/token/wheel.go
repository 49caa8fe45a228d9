package token

import (
	"context"
	"time"

	"atelier/actors/durable"
	pb "atelier/actors/token/tokenpb"
)

// wheel counts live tokens by the Unix second in which they expire. Counts are enough, because each
// operation reads the token's expiry in its record. A heap would need memory for each token, and a
// million timers that fire together would need a million goroutines.
type wheel map[int64]int

// add adds n to the count of a second. If n is negative and the second has no count, add has no
// effect and returns false, because turn has already removed this second.
func (w wheel) add(second int64, n int) bool {
	if n < 0 && w[second] == 0 {
		return false
	}
	if w[second] += n; w[second] == 0 {
		delete(w, second)
	}
	return true
}

// turn removes the passed seconds, and returns the number of tokens that expired in them.
func (w wheel) turn(now time.Time) (ended int) {
	for second, n := range w {
		if second < now.Unix() {
			ended += n
			delete(w, second)
		}
	}
	return ended
}

// turn sends the time to a 64th of the shards every 62.5 ms, so that each shard gets it every four
// seconds.
func (v *Vault) turn(ctx context.Context) {
	const parts = 64
	tick := v.opts.Clock.NewTicker(4 * time.Second / parts)
	defer tick.Stop()
	for part := 0; ; part = (part + 1) % parts {
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
		for i := part; i < shardCount; i += parts {
			v.opts.System.Root.Send(v.shards[i], turned{v.opts.Clock.Now()})
		}
	}
}

// recount fills the wheels with the tokens that were created before now, the time of startup. Later
// tokens are counted when they are created. No operation waits for recount, because the counts are
// only statistics.
func (v *Vault) recount(ctx context.Context, now time.Time) {
	began, total := v.opts.Clock.Uptime(), 0
	ends := make([]map[int64]int, shardCount)
	ring := v.ring.Load()
	var t pb.Token
	err := v.opts.Journal.Scan(durable.Scan{Table: v.tables.tokens, Prefix: v.streamTag[:]}, func(key, value []byte) bool {
		body, ok := ring.Body(value)
		if !ok || len(key) <= streamTagBytes {
			return ctx.Err() == nil
		}
		t.Reset()
		if t.Decode(body) == nil && t.Participant != "" && StateOf(&t, now, false, false) == Active && t.CreatedAt < now.UnixMilli() {
			i := key[streamTagBytes]
			if ends[i] == nil {
				ends[i] = map[int64]int{}
			}
			ends[i][t.ExpiresAt/1000]++
			total++
		}
		return ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return // the vault is closing
	}
	if err != nil {
		v.log.Warn("counting the live tokens failed", "error", err)
		return
	}
	for i, e := range ends {
		if e != nil {
			v.opts.System.Root.Send(v.shards[i], counted{e})
		}
	}
	v.log.Debug("counted the tokens", "live", total, "took", v.opts.Clock.Uptime()-began)
}
