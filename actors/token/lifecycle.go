package token

import (
	"time"

	pb "atelier/actors/token/tokenpb"
)

// State is the public state of a token.
type State string

// States. All except Active are final.
const (
	Active       State = "active"
	Redeemed     State = "redeemed"
	Expired      State = "expired"
	Revoked      State = "revoked"
	SessionEnded State = "session_ended"
	Locked       State = "locked"
)

// States lists all states.
var States = []State{Active, Redeemed, Expired, Revoked, SessionEnded, Locked}

// Operation is an operation on a token.
type Operation uint8

// Operations on an existing token.
const (
	Detokenize Operation = iota + 1
	Revoke
	Introspect
	// Replay checks whether a repeated tokenize can return a token again.
	Replay
	// Probe checks whether a token is active, for any binding. It is used to decide whether an
	// idempotency key is free, because the key is in use until its token ends. The answer contains
	// none of the token's data.
	Probe
)

// Refusal is the reason why an operation on a token is refused. The transport has a code for each
// reason (transport/handler/RULES.md, "Life of a token").
type Refusal uint8

// Refusals.
const (
	// NotRefused is the zero value: granted.
	NotRefused Refusal = iota
	// NotFound: the token does not exist or belongs to another participant. The two cases are
	// indistinguishable.
	NotFound
	// BindingMismatch: the token belongs to the participant, but is bound to another checkout.
	BindingMismatch
	// IsExpired, IsUsed, IsRevoked: the token has ended. IsRevoked also means that the token is
	// locked or its session has ended.
	IsExpired
	IsUsed
	IsRevoked
	// IsSessionEnded: the checkout session of a tokenize request has ended.
	IsSessionEnded
	// IsConflict: the idempotency key is in use for a different request.
	IsConflict
)

// Error describes the refusal, without any names or values from the request.
func (r Refusal) Error() string {
	switch r {
	case NotFound:
		return "token not found"
	case BindingMismatch:
		return "the token is bound to another checkout"
	case IsExpired:
		return "the token has expired"
	case IsUsed:
		return "the token was used"
	case IsRevoked:
		return "the token was revoked"
	case IsSessionEnded:
		return "the checkout session has ended"
	case IsConflict:
		return "the idempotency key was used with another request"
	}
	return "granted"
}

// Rules contains the lifecycle settings.
type Rules struct {
	// MaxMismatches is the number of attempts with a wrong checkout after which a token is locked.
	MaxMismatches uint32
	// DropSensitive erases the most sensitive parts of a credential when it is first returned.
	DropSensitive bool
}

// Attempt is one operation on a token.
type Attempt struct {
	Operation Operation
	// Participant is the participant for which the caller acts; the permission was already
	// verified.
	Participant string
	Checkout    [32]byte
	Now         time.Time
	// SessionEnded means that the participant's checkout session has ended.
	SessionEnded bool
	// ShareOver means that the share under which the credential is sealed has ended, so the
	// credential can no longer be opened.
	ShareOver bool
}

// Verdict is the result of an attempt.
type Verdict struct {
	Refusal Refusal
	// State is the state after the attempt.
	State State
	// Next is the record to store, or nil if the record is unchanged.
	Next *pb.Token
	// DropSensitive requests that the credential in Next is sealed again without its sensitive
	// parts.
	DropSensitive bool
	// Record is the action for the audit trail; "" for a refusal that is only counted.
	Record string
	// Security means that the record is a security event, which triggers alerts.
	Security bool
}

// Decide returns the result of an attempt on a token. It is pure, and changes neither record nor
// attempt.
func Decide(t *pb.Token, a Attempt, rules Rules) Verdict {
	// Another participant's token gets the same answer as an unknown one.
	if t.Participant == "" || t.Participant != a.Participant && a.Operation != Probe {
		return Verdict{Refusal: NotFound}
	}
	state := StateOf(t, a.Now, a.SessionEnded, a.ShareOver)
	if a.Operation == Probe {
		return Verdict{State: state, Refusal: refusalOf(state)}
	}
	if string(t.Checkout) != string(a.Checkout[:]) {
		return mismatch(t, a, rules, state)
	}
	switch a.Operation {
	case Introspect:
		return Verdict{State: state, Record: "token_introspect"}
	case Replay:
		if state != Active {
			return Verdict{State: state, Refusal: refusalOf(state)}
		}
		return Verdict{State: state, Record: "token_replay"}
	case Revoke:
		if state != Active {
			// The token has already ended, so the caller gets what was requested.
			return Verdict{State: state, Record: "token_revoke"}
		}
		return Verdict{State: Revoked, Next: ended(t, pb.State_STATE_REVOKED, a.Now), Record: "token_revoke"}
	case Detokenize:
		return detokenize(t, a, rules, state)
	}
	return Verdict{Refusal: NotFound}
}

func detokenize(t *pb.Token, a Attempt, rules Rules, state State) Verdict {
	switch {
	case state == Redeemed:
		return Verdict{State: state, Refusal: IsUsed, Record: "token_reuse", Security: true}
	case state != Active:
		return Verdict{State: state, Refusal: refusalOf(state)}
	case PolicyOf(t.Policy).Once:
		return Verdict{State: Redeemed, Next: ended(t, pb.State_STATE_REDEEMED, a.Now), Record: "token_detokenize"}
	}
	v := Verdict{State: Active, Record: "token_detokenize"}
	if rules.DropSensitive && !t.SensitiveDropped {
		v.Next = t.Clone()
		v.Next.SensitiveDropped, v.DropSensitive = true, true
	}
	return v
}

// mismatch refuses an attempt of the right participant with the wrong checkout. While the token is
// active, mismatches are counted. The mismatch number MaxMismatches locks the token, so that nobody
// can try many checkouts. Using a used token is a security event, whichever checkout was given.
func mismatch(t *pb.Token, a Attempt, rules Rules, state State) Verdict {
	v := Verdict{State: state, Refusal: BindingMismatch}
	switch {
	case state == Redeemed && a.Operation == Detokenize:
		v.Record, v.Security = "token_reuse", true
		return v
	case state != Active:
		return v
	}
	v.Record, v.Security = "token_mismatch", true
	v.Next = t.Clone()
	v.Next.Mismatches++
	if v.Next.Mismatches >= rules.MaxMismatches {
		v.Next = ended(v.Next, pb.State_STATE_LOCKED, a.Now)
		v.State, v.Record = Locked, "token_lock"
	}
	return v
}

// StateOf returns the state of a token at the time now.
func StateOf(t *pb.Token, now time.Time, sessionEnded, shareOver bool) State {
	switch t.State {
	case pb.State_STATE_REDEEMED:
		return Redeemed
	case pb.State_STATE_REVOKED:
		return Revoked
	case pb.State_STATE_LOCKED:
		return Locked
	}
	switch {
	case sessionEnded:
		return SessionEnded
	case now.UnixMilli() >= t.ExpiresAt, shareOver:
		return Expired
	}
	return Active
}

func refusalOf(s State) Refusal {
	switch s {
	case Redeemed:
		return IsUsed
	case Expired:
		return IsExpired
	case Revoked, SessionEnded, Locked:
		return IsRevoked
	}
	return NotRefused
}

// ended returns the record of an ended token, without its credential.
func ended(t *pb.Token, s pb.State, now time.Time) *pb.Token {
	t = t.Clone()
	t.State, t.EndedAt, t.Credential, t.Share = s, now.UnixMilli(), nil, nil
	return t
}
