package broadcast

import "time"

// sealer makes stamps. One is the planned time of a message, in microseconds of
// the run's timeline, and behind that a check of the time and the message's
// number. So the receiver of a message knows whether it was sent like that, even in
// a worker that did not send it, and nothing must be remembered for that. The key
// is another in each run: messages that a server still has of the previous run do
// not belong to this one.
type sealer uint64

// checkBits leave a stamp below 2^53 for 38 hours: servers that take numbers for
// floating point ones give it back as it was.
const checkBits = 16

// forged is the time of a message whose stamp nobody gave it.
const forged = time.Duration(-1)

// seal makes the stamp of a message.
func (k sealer) seal(due time.Duration, seq uint64) uint64 {
	us := uint64(due / time.Microsecond)
	return us<<checkBits | k.check(us, seq)
}

// open returns the planned time in a stamp.
func (k sealer) open(stamp, seq uint64) time.Duration {
	us := stamp >> checkBits
	if stamp != us<<checkBits|k.check(us, seq) {
		return forged
	}
	return time.Duration(us) * time.Microsecond
}

func (k sealer) check(us, seq uint64) uint64 {
	return mixed(mixed(us^uint64(k))^seq) >> (64 - checkBits)
}

// mixed spreads each bit over all (the finisher of SplitMix64).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
