// Package token implements tokens (transport/handler/RULES.md).
//
// A Vault holds the tokens of one environment. It has 256 shards; each is the parent of one
// actor per token that is in use. A token's actor is spawned when the token is made or
// requested. It reads its record and decides with the pure Decide. Its parent stops it as
// soon as nobody waits for it. So a million unused tokens need no memory besides the
// store's.
//
// An operation makes one append to the journal: the record, with its state at the decision
// as precondition, and the audit record. The credential is returned only after the append
// is on disk. So of two incarnations of an actor that decide concurrently one wins, and no
// credential is returned without an audit record. A crash between the append and the answer
// loses the answer and keeps the rule: at most once. A caller that lost the answer
// tokenizes again.
//
// An operation's steps run on the caller's goroutine, shard and token one inside the other,
// until the append. Its answer is delivered by a lander. So the shards bound the
// concurrency. While a token of one shard reads the disk, other tokens of the same shard
// wait, one in 256.
//
// A credential is sealed under the token, the server's key, and a share that all tokens
// that end in the same quarter of an hour have in common. Shares come from Options.Shares,
// which destroys each in time, so the remains of an expired token on the disk open nothing.
// A token without its share has expired. Answers to idempotency keys are sealed under the
// token's share, too.
//
// Expiry is a comparison with the token's record, so a million tokens that expire together
// cost nothing. A wheel in each shard counts the live ones by the second in which they end.
//
// Checkout sessions are rows of participant and checkout. One row ends all
// tokens of a checkout; each operation on a token reads it.
//
// When things fail: a storage error answers unavailable and ends the token's actor, since
// its state can be wrong. A panic answers unavailable and lets the token rest for a while
// that doubles; after several it is quarantined. A damaged record quarantines its token at
// once. The token answers ErrDamaged, with an audit record, until the quarantine ends and
// it is read again. Other tokens are not affected.
//
// Queues: a vault has at most Options.MaxOpen unanswered operations, and a token at most
// maxWaiting. Beyond that callers get durable.ErrBusy.
package token
