package live

// bucket is a token bucket: the right to one message comes back every 1/rate
// seconds, up to burst of them. The zero value is full.
type bucket struct {
	// used is how many tokens are gone, which makes the zero value full.
	used float64
	// at is when used was right, in nanoseconds.
	at int64
}

// take reports whether one more message is within the rate.
func (b *bucket) take(now int64, rate, burst float64) bool {
	b.used = max(0, b.used-float64(now-b.at)/1e9*rate)
	b.at = now
	if b.used+1 > burst {
		return false
	}
	b.used++
	return true
}
