package token

import (
	"slices"
	"time"

	pb "atelier/actors/token/tokenpb"
)

// Policy determines when tokens end (commerce protocol, "States and transitions").
type Policy struct {
	Kind pb.Policy
	// Name is the policy's name in the API.
	Name string
	// About is the rule as the specification document states it.
	About string
	// Once means that the first detokenization ends the token.
	Once bool
	// Life means that a token has its own lifetime, from MinLife to MaxLife. Otherwise the token
	// ends with its session.
	Life bool
}

// policies is the only list of the policies. The first one is the default.
var policies = []Policy{
	{
		Kind: pb.Policy_POLICY_SINGLE_USE, Name: "single_use", Once: true, Life: true,
		About: "Valid for one detokenization within its life. If the response to detokenize is lost, the credential is not returned again: tokenize again.",
	},
	{
		Kind: pb.Policy_POLICY_TTL, Name: "ttl", Life: true,
		About: "Valid for its life, for any number of detokenizations.",
	},
	{
		Kind: pb.Policy_POLICY_SESSION, Name: "session",
		About: "Valid until the checkout session ends, at the latest after the maximum session time.",
	},
}

// Policies returns all policies, the default first.
func Policies() []Policy { return slices.Clone(policies) }

// PolicyNames returns the names of the policies for which such reports true. If such is nil, it
// returns all names.
func PolicyNames(such func(Policy) bool) []string {
	var names []string
	for _, p := range policies {
		if such == nil || such(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Lives reports whether the tokens of a policy have their own lifetime.
func Lives(p Policy) bool { return p.Life }

// Ends reports whether the tokens of a policy end with their session.
func Ends(p Policy) bool { return !p.Life }

// Repeats reports whether a token can be detokenized more than once.
func Repeats(p Policy) bool { return !p.Once }

// PolicyOf returns the policy of a kind; for an unknown kind it returns the default.
func PolicyOf(kind pb.Policy) Policy {
	if i := slices.IndexFunc(policies, func(p Policy) bool { return p.Kind == kind }); i >= 0 {
		return policies[i]
	}
	return policies[0]
}

// PolicyName returns a policy's name in the API.
func PolicyName(kind pb.Policy) string { return PolicyOf(kind).Name }

// ParsePolicy returns the policy with a name.
func ParsePolicy(name string) (Policy, bool) {
	i := slices.IndexFunc(policies, func(p Policy) bool { return p.Name == name })
	if i < 0 {
		return Policy{}, false
	}
	return policies[i], true
}

// Limits and default of a token's lifetime, for policies with Life (transport/handler/RULES.md,
// "Life of a token").
const (
	MinLife     = time.Minute
	MaxLife     = 30 * time.Minute
	DefaultLife = 15 * time.Minute
)
