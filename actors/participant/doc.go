// Package participant manages the participants of tokenization (transport/handler/RULES.md):
// platforms, businesses and payment service providers. For each participant, the package stores the
// API keys, the participants that act for it and its acknowledgement. It also stores the policy of
// its tokens, and the public key to which its credentials are encrypted.
//
// One actor contains all participants of both environments, because they are few and change rarely.
// Each change is audited in its own commit. Requests are authorized by the committed View, so an
// acknowledged change applies to every later request.
//
// Commands contain no secret: the caller generates a key and sends only its hash.
package participant

//go:generate go run atelier/actors/internal/protogen
