package auth

import (
	"crypto/sha256"
	"time"

	"atelier/actors/people"
	"atelier/transport/httpapi"
)

// Failures limits failed logins with a bucket per address and account. A browser with an earlier or
// current login has its own bucket, so that others' failures never lock it out. The bucket of a
// facilitator or assistant applies only to attempts at their own login. Otherwise each of them
// would have an additional bucket for guessing the passwords of others.
type Failures struct{ buckets *httpapi.Limiter }

// NewFailures returns the limit of failed logins.
func NewFailures(r httpapi.Rate, now func() time.Time) *Failures {
	return &Failures{httpapi.NewLimiter(r, now)}
}

// Attempt is an attempted login. Charge charges its bucket before the outcome is known, so that
// concurrent attempts cannot exceed the limit. Right refunds the charge.
type Attempt struct {
	buckets *httpapi.Limiter
	key     string
}

// Attempt returns an attempt with its bucket. device is the result of DeviceID, or "" if the device
// does not apply to this account.
func (f *Failures) Attempt(who *Identity, device, ip, account string) Attempt {
	switch {
	case device != "":
		return Attempt{f.buckets, "device " + device}
	case who.grant == nil:
	case who.person == nil:
		return Attempt{f.buckets, "login " + who.grant.Login}
	case people.HasLogin(who.person, account):
		return Attempt{f.buckets, "person " + who.person.Id}
	}
	// The key is a hash, because the length of the account is unbounded.
	sum := sha256.Sum256([]byte(httpapi.Address(ip) + "\x00" + account))
	return Attempt{f.buckets, string(sum[:])}
}

// Charge counts an attempt. If no attempt is left, it counts nothing and returns how long the
// caller must wait, which is more than 0.
func (a Attempt) Charge() (wait time.Duration) { return a.buckets.Allow(a.key) }

// Right refunds the charge of an attempt that did not fail: the login was correct, or it could not
// be checked.
func (a Attempt) Right() { a.buckets.Return(a.key) }

// The response to a failed login is delayed by slowLogin for each failure that its bucket counts,
// up to maxSlowLogin.
const (
	slowLogin    = 20 * time.Millisecond
	maxSlowLogin = 300 * time.Millisecond
)

// Delay returns how long to delay the response to a failed attempt.
func (a Attempt) Delay() time.Duration {
	return min(maxSlowLogin, time.Duration(a.buckets.Level(a.key))*slowLogin)
}
