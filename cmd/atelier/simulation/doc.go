// Package simulation runs several nodes of the server in one process, with
// simulated time, store and network, under random load and random faults, and
// checks what the server promises. One seed decides load and faults.
//
// What runs is the real code from actors/durable upwards: owners, followers,
// forwarding, erasing, the codelab with its commands, the list of codelabs.
// Below it stand persistence/memory (the store that nodes share) and
// durable/bustest (the network). Time is that of testing/synctest, so a minute
// of a workshop takes milliseconds.
//
// The oracles are in oracles.go; each says which promise it checks. A run that
// fails prints its seed and the last steps of its history:
//
//	make simulate            # 2,000 seeds
//	make simulate SEED=17    # one of them, with its whole history
package simulation
