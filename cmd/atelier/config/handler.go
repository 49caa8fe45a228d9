package config

import (
	"strings"
	"time"

	"atelier/actors/naming"
	"atelier/actors/token"
	"atelier/actors/token/credential"
	"atelier/transport/commerce/schema"
)

// Handler is the configuration section of the tokenization handler.
type Handler struct {
	Name            string   `toml:"name" doc:"Reverse-domain name of the handler."`
	Tokenize        bool     `toml:"tokenize" doc:"Offer /tokenize."`
	Detokenize      bool     `toml:"detokenize" doc:"Offer /detokenize."`
	DefaultPolicy   string   `toml:"default_policy" doc:"Policy of tokens for participants without their own: ${policies}."`
	TTL             Duration `toml:"ttl" min:"1m" max:"30m" doc:"Lifetime of tokens under ${policies_with_life}."`
	SessionCap      Duration `toml:"session_cap" min:"1m" max:"168h" doc:"Maximum lifetime of a checkout session, and of its tokens under session."`
	MaxMismatches   int      `toml:"max_mismatches" min:"1" doc:"Number of uses with another checkout after which a token is locked."`
	RefuseExpired   bool     `toml:"refuse_expired_cards" doc:"Refuse expired cards."`
	DropSensitive   bool     `toml:"drop_sensitive_after_first_use" doc:"Under ${policies_that_repeat}, return cvc and cryptogram only once."`
	OpaqueTypes     []string `toml:"opaque_types" doc:"Further credential types, stored without validation."`
	RatePerSecond   int      `toml:"requests_per_second" min:"0" doc:"Requests per participant and second. 0: no limit."`
	Onboarding      string   `toml:"onboarding" doc:"Text of the specification document: how to become a participant."`
	DutiesVersion   string   `toml:"acknowledgement_version" doc:"Version of the security obligations that participants acknowledge."`
	Duties          string   `toml:"acknowledgement" doc:"Text of the specification document: security obligations of participants that receive credentials."`
	RememberExpired Duration `toml:"remember_expired" min:"1s" doc:"Time for which an expired token is distinguished from an unknown one."`
	RememberEnded   Duration `toml:"remember_ended" min:"1s" doc:"Time for which a used, revoked or locked token is distinguished from an unknown one."`
}

func defaultHandler() Handler {
	return Handler{
		Name: "com.atelier.tokenization", Tokenize: true, Detokenize: true, DefaultPolicy: token.Policies()[0].Name,
		TTL: Duration(token.DefaultLife), SessionCap: Duration(6 * time.Hour), MaxMismatches: 5, OpaqueTypes: []string{},
		RatePerSecond: 2000, DutiesVersion: "1",
		Onboarding: "Ask the operator of this server. You get a participant id, a public identity and an API key, whose secret is shown once. " +
			"Before you detokenize, you acknowledge the security duties; a payment service provider also needs the grant of each business it acts for.",
		Duties: "Credentials are kept only for as long as the payment needs them, in systems that meet the compliance duties of their type, " +
			"and are neither logged nor passed on. A suspected disclosure is reported to the operator at once.",
		RememberExpired: Duration(time.Hour), RememberEnded: Duration(24 * time.Hour),
	}
}

func (h *Handler) check(bad, warn func(format string, args ...any)) {
	if err := schema.CheckName(h.Name); err != nil {
		bad("handler.name: %v", err)
	}
	policy, ok := token.ParsePolicy(h.DefaultPolicy)
	if !ok {
		bad("handler.default_policy must be %s", naming.Or(token.PolicyNames(nil)...))
	}
	if strings.TrimSpace(h.DutiesVersion) == "" {
		bad("handler.acknowledgement_version is required")
	}
	for _, t := range h.OpaqueTypes {
		if t == "" || credential.Known(t) {
			bad("handler.opaque_types: %q is empty or a built-in type; name only further types", t)
		}
	}
	if h.MaxMismatches > 100 {
		warn("handler.max_mismatches is high: the holder of a token can try many checkouts")
	}
	if ok && !policy.Once {
		warn("handler.default_policy %s lets a token be used more than once", h.DefaultPolicy)
	}
}
