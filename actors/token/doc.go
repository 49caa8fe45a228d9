// Package token implements tokens (transport/handler/RULES.md).
//
// A Vault contains the tokens of one environment. It has 256 shards; each is the parent of one
// actor per token in use. A token's actor is spawned when the token is created or requested. The
// actor reads the token's record and decides with the pure function Decide. The shard stops the
// actor once no caller waits for it. Only the actors of active tokens stay idle for some seconds
// after they were created or used, at most maxIdle in each shard. A million unused tokens therefore
// need hardly any memory except the store's.
//
// An operation makes one append to the journal: the record, with its state at the decision as
// precondition, and the audit record. The credential is returned only after the commit.
// As a result, only one of two incarnations that decide concurrently succeeds, and no credential is
// returned without an audit record. A crash between the append and the answer loses the answer, but
// the credential of a single-use token is still returned at most once. A caller that lost the
// answer tokenizes again.
//
// Until the append, all steps of an operation run on the caller's goroutine, which runs the
// mailboxes of shard and token nested. Another goroutine delivers the append's result. The number
// of shards therefore bounds the concurrency. While a token in a shard reads the store, the other
// tokens in that shard (one in 256 of all tokens) wait.
//
// A credential is sealed under the token, the server's key, and a share common to all tokens that
// expire in the same quarter of an hour. Options.Shares provides the shares, and destroys each one
// at its end. After that, data of expired tokens that remains on the disk cannot be decrypted. A
// token whose share is destroyed counts as expired. Answers to idempotency keys are also sealed
// under the token's share.
//
// Each operation compares the time with the expiry in the token's record, so a million tokens that
// expire together need no timers. A wheel in each shard counts the live tokens by the second of
// their expiry.
//
// A checkout session is a row for a participant and a checkout. Each operation on a token reads or
// verifies this row, so changing the row ends all tokens of the checkout.
//
// After a failed append the operation fails, and the token's actor reads the record again, because
// it is unknown whether the new record was stored. After a panic the operation fails as unavailable
// and the token is suspended with exponential backoff; after several panics the token is
// quarantined. A damaged record quarantines its token immediately, with an audit record. Operations
// on a quarantined token fail with ErrDamaged, until the quarantine ends and the record is read
// again. Other tokens are not affected.
//
// Queues: a vault has at most Options.MaxOpen unanswered operations, and a token at most
// maxWaiting. Beyond these limits, callers get durable.ErrBusy.
package token
