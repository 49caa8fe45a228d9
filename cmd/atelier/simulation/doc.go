// Package simulation runs several nodes of the server in one process, with
// simulated time, store and network, under random load and random faults, and
// checks what the server promises. One seed decides load and faults.
//
//	make simulate            # 2,000 seeds
//	make simulate SEED=17    # one of them, with its whole history
//	make simulate NODES=3 SEEDS=500
//
// # What runs
//
// The real code from actors/durable upwards: owners, followers, forwarding,
// erasing, the codelab with every command of its vocabulary (words.go; a test
// fails for one that is never drawn), the list of codelabs. Below it stand
// persistence/memory, the store that the nodes share, and durable/bustest, the
// network. Time is that of testing/synctest, so a minute of a workshop takes
// milliseconds.
//
// # Faults
//
// Links are cut in one or both directions, a node loses its lease, is killed and
// started, gives a codelab away, commits fail, the store stands still (faults.go).
// At the end all is whole again, then all nodes are killed and started.
//
// # What is checked
//
//   - Every node shows what was acknowledged, once, at the position of the
//     acknowledgement and behind it, also after all were killed.
//   - At the same position all nodes show the same state, byte for byte.
//   - A read shows everything that was acknowledged before it began.
//   - Nothing of a removed person is left in a view, a snapshot, a record or the
//     list, and nothing of a deleted codelab.
//   - A command that is repeated with its reference is done once.
//
// # What is not simulated
//
// Each node knows at once that its lease is lost. The network delays nothing and
// doubles nothing; the store loses nothing that it has committed. Listeners,
// tokens, sessions and files do not take part. Badger and its files are tried by
// the tests of persistence/badger, PostgreSQL's isolation by those of
// persistence/postgres. The Go scheduler has a choice of its own: a failing seed
// mostly fails again, not always.
package simulation
