// Package token implements tokens (transport/handler/RULES.md).
//
// A Vault holds the tokens of one environment. It has 256 shards; each is the parent of one actor
// per token in use. A token's actor is spawned when the token is created or requested. It reads its
// record and decides with the pure Decide. Its parent stops it once nobody waits for it. So a
// million unused tokens need no memory except the store's.
//
// An operation makes one append to the journal: the record, with its state at the decision as
// precondition, and the audit record. The credential is returned only after the append is on disk.
// So of two incarnations of an actor that decide concurrently one succeeds, and no credential is
// returned without an audit record. A crash between the append and the answer loses the answer, but
// the rule holds: at most once. A caller that lost the answer tokenizes again.
//
// An operation's steps run on the caller's goroutine, shard and token nested, until the append. A
// lander delivers its answer. So the shards bound the concurrency. While a token of a shard reads
// the disk, other tokens of that shard, one in 256, wait.
//
// A credential is sealed under the token, the server's key, and a share common to all tokens that
// expire in the same quarter of an hour. Shares come from Options.Shares, which destroys each in
// time, so the remains of an expired token on the disk cannot be decrypted. A token without its
// share has expired. Answers to idempotency keys are sealed under the token's share, too.
//
// Expiry is a comparison with the token's record, so a million tokens that expire together cost
// nothing. A wheel in each shard counts the live ones by the second of their expiry.
//
// Checkout sessions are rows of participant and checkout. One row ends all
// tokens of a checkout; each operation on a token reads it.
//
// On failures: a storage error answers unavailable and stops the token's actor, because its state
// can be wrong. A panic answers unavailable and suspends the token with exponential backoff; after
// several panics the token is quarantined. A damaged record quarantines its token at once. The
// token answers ErrDamaged, with an audit record, until the quarantine ends and it is read again.
// Other tokens are not affected.
//
// Queues: a vault has at most Options.MaxOpen unanswered operations, and a token at most
// maxWaiting. Beyond that callers get durable.ErrBusy.
package token
