// Package participant manages the participants of tokenization
// (transport/handler/RULES.md): platforms, businesses and payment service providers. Of
// each it has the API keys, the participants that act for it, its acknowledgements, the
// policy of its tokens, and the public keys to which its credentials are encrypted.
//
// One actor holds all of them, of both environments; they are few and change
// rarely. Each change is audited in its own commit. Requests are authorised
// from the committed View, an immutable value: an acknowledged change holds
// for every request that comes after.
//
// No secret gets here: the caller makes a key and sends its hash.
package participant

//go:generate go run atelier/actors/internal/protogen
