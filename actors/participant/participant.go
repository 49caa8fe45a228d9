package participant

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"

	"atelier/actors/token/seal"
)

// Kinds and environments of participants, and the scopes of their keys.
const (
	Platform = "platform"
	Business = "business"
	PSP      = "psp"

	Production = string(seal.Production)
	Sandbox    = string(seal.Sandbox)

	ScopeTokenize   = "tokenize"
	ScopeDetokenize = "detokenize"
)

// The enums of these values.
var (
	Kinds        = []string{Platform, Business, PSP}
	Environments = []string{Production, Sandbox}
	Scopes       = []string{ScopeTokenize, ScopeDetokenize}
)

// Limits of the stored data.
const (
	MaxParticipants = 10_000
	MaxKeys         = 20
	MaxDelegates    = 1_000
)

// View is the committed state. It and its records are immutable.
type View struct {
	all        []*Participant // oldest first
	byID       map[string]*Participant
	byIdentity map[string]*Participant
	byKey      map[string]*Participant
}

// All returns the participants, oldest first. Callers must not change the list.
func (v *View) All() []*Participant { return v.all }

// Get returns the participant with an id, or nil.
func (v *View) Get(id string) *Participant { return v.byID[id] }

// ByIdentity returns the participant with this public identity, or nil.
func (v *View) ByIdentity(identity string) *Participant { return v.byIdentity[identity] }

// Authenticate returns the participant whose key has this id and secret. It returns nil if there
// is none, or if the participant is disabled. It compares the secret in constant time, even if
// there is no such key.
func (v *View) Authenticate(keyID string, secret []byte) *Participant {
	hash := sha256.Sum256(secret)
	p := v.byKey[keyID]
	against := make([]byte, sha256.Size)
	if k := KeyOf(p, keyID); k != nil {
		against = k.SecretHash
	}
	if subtle.ConstantTimeCompare(hash[:], against) != 1 || p == nil || p.Disabled {
		return nil
	}
	return p
}

// KeyOf returns a participant's key with an id, or nil.
func KeyOf(p *Participant, id string) *Key {
	for _, k := range p.GetKeys() {
		if k.Id == id {
			return k
		}
	}
	return nil
}

// MayActFor reports whether both participants are the same, or the first has permission to act for
// the second.
func MayActFor(who, whom *Participant) bool {
	return who.Id == whom.Id || slices.Contains(whom.Delegates, who.Id)
}

// HasScope reports whether a participant has a scope.
func HasScope(p *Participant, scope string) bool { return slices.Contains(p.Scopes, scope) }
