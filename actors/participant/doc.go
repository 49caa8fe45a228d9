// Package participant owns who takes part in tokenization (transport/handler/RULES.md):
// platforms, businesses and payment service providers, their API keys, whom
// they let act for them, what they acknowledged, the policy of their tokens,
// and the public keys to which credentials are encrypted for them.
//
// One actor holds all of them, of both environments; they are few and change
// rarely. Each change is audited in its own commit. Requests are authorised
// from the committed View, an immutable value: an acknowledged change holds
// for every request that comes after.
//
// No secret gets here: the caller makes a key and sends its hash.
package participant
