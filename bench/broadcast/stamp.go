package broadcast

import "time"

// sealer makes stamps. A stamp is the planned time of a message, in microseconds of the run's
// timeline, followed by a check of the time and the message's number. A receiver can therefore
// verify a message without any stored state, even in a worker that did not send it. The key differs
// in each run, so messages that a server still has from the previous run are detected.
type sealer uint64

// checkBits is the number of bits of the check. It keeps stamps below 2^53 for 38 hours, so that
// servers that treat numbers as floating point return them unchanged.
const checkBits = 16

// forged is the time of a message with an invalid stamp.
const forged = time.Duration(-1)

// seal returns the stamp of a message.
func (k sealer) seal(due time.Duration, seq uint64) uint64 {
	us := uint64(due / time.Microsecond)
	return us<<checkBits | k.check(us, seq)
}

// open returns the planned time in a stamp, or forged if the stamp is invalid.
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

// mixed spreads each bit over all bits (the finisher of SplitMix64).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
