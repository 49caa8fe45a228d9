package config

import (
	"strings"
	"time"

	"atelier/actors/naming"
	"atelier/actors/token"
	"atelier/actors/token/credential"
	"atelier/transport/commerce/schema"
)

// Handler is the tokenization handler.
type Handler struct {
	Name            string   `toml:"name" doc:"The handler's reverse-domain name."`
	Tokenize        bool     `toml:"tokenize" doc:"Whether /tokenize is offered."`
	Detokenize      bool     `toml:"detokenize" doc:"Whether /detokenize is offered."`
	DefaultPolicy   string   `toml:"default_policy" doc:"Policy of tokens whose participant has none of its own: ${policies}."`
	TTL             Duration `toml:"ttl" min:"1m" max:"30m" doc:"Life of tokens under ${policies_with_life}."`
	SessionCap      Duration `toml:"session_cap" min:"1m" max:"168h" doc:"Longest life of a checkout session, and of its tokens under session."`
	MaxMismatches   int      `toml:"max_mismatches" min:"1" doc:"A token used so often with another checkout is locked."`
	RefuseExpired   bool     `toml:"refuse_expired_cards" doc:"Refuse cards whose month is over."`
	DropSensitive   bool     `toml:"drop_sensitive_after_first_use" doc:"Under ${policies_that_repeat}, give out cvc and cryptogram only once."`
	OpaqueTypes     []string `toml:"opaque_types" doc:"Further credential types, kept without being looked into."`
	RatePerSecond   int      `toml:"requests_per_second" min:"0" doc:"Requests per participant and second; 0 is no limit."`
	Onboarding      string   `toml:"onboarding" doc:"How to become a participant, for the specification document."`
	DutiesVersion   string   `toml:"acknowledgement_version" doc:"Version of the security duties that participants acknowledge."`
	Duties          string   `toml:"acknowledgement" doc:"The security duties of who receives credentials, for the specification document."`
	RememberExpired Duration `toml:"remember_expired" min:"1s" doc:"How long an expired token is told from an unknown one."`
	RememberEnded   Duration `toml:"remember_ended" min:"1s" doc:"How long a used, revoked or locked token is told from an unknown one."`
}

func defaultHandler() Handler {
	return Handler{
		Name: "com.atelier.tokenization", Tokenize: true, Detokenize: true, DefaultPolicy: token.Policies()[0].Name,
		TTL: Duration(token.DefaultLife), SessionCap: Duration(6 * time.Hour), MaxMismatches: 5, OpaqueTypes: []string{},
		RatePerSecond: 2000, DutiesVersion: "1",
		Onboarding: "Ask the operator of this server. You get a participant id, a public identity and an API key, whose secret is shown once. " +
			"Who detokenizes acknowledges the security duties first; a payment service provider also needs the grant of each business it acts for.",
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
			bad("handler.opaque_types: %q is not a type of its own", t)
		}
	}
	if h.MaxMismatches > 100 {
		warn("handler.max_mismatches is high: the holder of a token may try many checkouts")
	}
	if ok && !policy.Once {
		warn("handler.default_policy %s lets a token be used more than once", h.DefaultPolicy)
	}
}
