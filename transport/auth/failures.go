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

// Attempt is an attempted login. Either Wait checks the bucket before the password and Failed
// charges it, or Charge charges it before the outcome is known and Right refunds the charge.
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

// Wait returns how long a caller must wait before an attempt. 0 means that the attempt is allowed
// now.
func (a Attempt) Wait() time.Duration { return a.buckets.Check(a.key) }

// Charge counts an attempt before its outcome is known. It returns false if no attempt is left.
func (a Attempt) Charge() bool { return a.buckets.Allow(a.key) == 0 }

// Right refunds the charge of a correct login.
func (a Attempt) Right() { a.buckets.Return(a.key) }

// The response to a failed login is delayed by slowLogin for each failure that its bucket counts,
// up to maxSlowLogin.
const (
	slowLogin    = 20 * time.Millisecond
	maxSlowLogin = 300 * time.Millisecond
)

// Failed counts a wrong password and returns how long to delay the response.
func (a Attempt) Failed() time.Duration {
	a.buckets.Allow(a.key)
	return min(maxSlowLogin, time.Duration(a.buckets.Level(a.key))*slowLogin)
}
