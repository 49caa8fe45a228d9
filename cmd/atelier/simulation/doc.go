// Package simulation runs several nodes of the server in one process, with simulated time, store
// and network, under random load and random faults. It verifies the server's guarantees. One seed
// determines load and faults.
//
//	make simulate                    # 2,000 seeds, on all CPUs
//	make simulate SEED=17            # one seed
//	make simulate NODES=3 SEEDS=500
//	make simulate FOR=8h             # more seeds, for eight hours
//	make simulate SEED=17 PLAN='nodes=2 without=kill-a-node'
//
// # What runs
//
// The real code from actors/durable upwards runs: owners, followers, forwarding, erasing and rooms.
// The codelab runs with every command of its vocabulary (actors/codelab/draw). The list of
// codelabs, retention, sessions, participants, tokens, webhooks, and the register of files with its
// claims and sweeps also run. The layers below are simulated:
//
//   - The store is persistence/memory. Each node has its own queue and latency, and its
//     own lease, which it renews. The store passes the same suites as PostgreSQL
//     (journaltest.Run and RunShared).
//   - The network is actors/durable/bustest, which passes the suite of buses.
//   - File contents are in a store that all nodes share (contents_test.go). It keeps
//     the promises of files.Blobs: each put creates its own object, which stays while
//     its lease is held. A removal lists objects, asks the register, then removes the
//     unreferenced ones.
//   - Time is simulated by testing/synctest, so a minute of a workshop takes
//     milliseconds. Each node has its own clock on top of it (clocktest). In a sixth of
//     all seeds the clocks always differ, by less than health checks report.
//
// Clients act on one node and then on another. Attendees register, leave, repeat a command with its
// reference on another node, and use several tabs concurrently. Facilitators remove, edit, end and
// delete (clients_test.go). Connections listen, and reconnect with their position
// (listeners_test.go). Payers use tokens (tokens_test.go), and people sign in and out
// (grants_test.go). People upload files, and refer to them on one node while others remove the
// reference on another. They also create codelabs from uploads, and delete these codelabs
// (uploads_test.go). A webhook has a receiver (hooks_test.go). In half of all seeds people act
// mostly on one subject (draw.Subjects). Behaviour that needs several commands would hardly ever
// occur if commands were drawn from all subjects.
//
// # Faults
//
// faults_test.go has the table. Links are cut in one or both directions, messages are lost, delayed
// or delivered twice, and queues overflow. A node loses its lease, cannot reach the store, is
// paused together with its timers, or has a wrong time of day. It is shut down, is killed (the
// store keeps any prefix of its queue), moves a codelab to another node, or has a full disk or
// queue. Commits fail or hang, and responses to successful and failed commits are lost or late.
// Puts of contents are slow or fail, or their node is killed meanwhile (contents_test.go). At the
// end all faults stop and all activity ends. Then all nodes are killed and started. If files were
// uploaded, all nodes are down for another 15 minutes. Then one node starts and sweeps.
//
// # What is checked
//
// Each of these checks is an oracle. A finding begins with the name of its oracle.
//
//	acknowledged  acknowledged changes are already committed, are visible, and stay;
//	              every view is the result of all committed records, applied in
//	              order from the first (reference_test.go)
//	rules         the rules of transport/rest/RULES.md for people and steps, help, polls,
//	              questions, the timer, pins, the pointer and pulses: models that share
//	              no code with the codelab (actors/codelab/oracle) receive each event,
//	              and compare the result of each commit
//	snapshot      the state from a snapshot at a random position and the later records
//	              equals the state of all records, field by field, and so does the
//	              state of each node at the end (actors/durable/statetest); fields
//	              missing in snapshots have a struct tag with the reason
//	once          no command is applied twice, with a reference or without
//	same view     all nodes have the same view at a position, byte for byte
//	linearizable  the responses have an order (porcupine); no read is stale
//	audience      each message has exactly the recipients that transport/rest/RULES.md
//	              lists; it does not reveal the author of an anonymous question
//	frames        a listener receives each frame once, in order, or reads again; an
//	              ack does not precede its frame
//	removed       a removed person is in no view, and has no connection
//	erased        no snapshot, record, row, or frame kept for replay contains a removed
//	              person, deleted content, or a merged question
//	anonymous     no record reveals the voters of an anonymous poll that was counted
//	deleted       nothing remains of a deleted codelab: immediately without faults,
//	              otherwise after the next start
//	tokens        the responses about each token obey its rules (porcupine)
//	presence      when all activity has ended, all nodes list the connected people, and nobody
//	              who was connected to a node that ended without notice
//	grants        a session or key is valid everywhere once it is acknowledged, and
//	              nowhere once its end is acknowledged
//	uploads       an upload, or the content of a submission, stays while a codelab
//	              refers to it, and while a claim on it is held (uploadchecks_test.go);
//	              in the end no unreferenced part of a file is left (uploadsleft_test.go)
//	answers       every request is answered in time, and only with known errors;
//	              without faults each node accepts a write
//	webhooks      each event that a webhook subscribes to is delivered at least once, but
//	              no event that happens while it is stopped; it is stopped after exactly
//	              20 consecutive refused attempts
//	divergence    no replica is reported as different from its owner
//	out           a node does not answer a request that arrived after its lease had expired
//	rest          everything unused is removed: owners, replicas, rows of erasing, and
//	              the subscriptions of nodes
//	goroutines    no goroutine of a stopped node remains
//	crash         nothing panics, and nothing waits for a mutex whose holder waits
//	              for time
//
// TestOraclesDetectFaults gives each check a wrong result, which the check must report. A run of
// 1,000 seeds or more also fails if a command was never accepted, a kind of message was never lost,
// or a fault was never triggered. The table at its end contains the numbers.
//
// # A run that fails
//
// A failed run prints the finding, the seed and its plan. It then makes the plan smaller as long as
// the same oracle finds something. Next it prints the faults, and the steps of the people and
// things that the finding mentions. Each step has the time, person, node, action, and the
// acknowledged position ("= 17"). The whole history is written to a file. Each process has one CPU
// (GOMAXPROCS=1). Runs still differ, because the Go scheduler makes choices of its own (select, the
// order in which goroutines wake) and ids are random. Of ten seeds that found the same fault,
// repeated five times each, 45 of 50 repetitions failed again. A race between two goroutines that
// meet at one moment failed in 9 of 30 repetitions. If a seed passes, repeat it a few times before
// you trust the result.
//
// # What is not simulated
//
// Badger and its files are tested by persistence/badger, and by make powercut on a lower level.
// PostgreSQL's own isolation is tested by persistence/postgres. The NATS servers between nodes,
// their sealing, and the guarantee that a command never arrives twice, are tested by transport/bus.
// REST, WebSocket and the browser are tested by cmd/atelier/acceptance. The files of contents and
// workspaces, the minimum age of a removed object, and backups are tested by persistence/objects.
// Clocks that run at different speeds are not simulated. A node stops using its lease after two
// thirds of the time that the database grants. This bounds the difference in speed. A node whose
// time of day is ahead treats a token as expired while other nodes still use it; the oracle allows
// for that. A process stops only where it calls its store, network or clock.
//
// # How to add
//
// A command must be in actors/codelab/draw, or a test fails. A fault is an entry of faults in
// faults_test.go. An oracle calls model.fail with its name, which must be in the list above. It
// also needs an entry in lies_test.go with a wrong result that it must detect. Package mutants
// measures whether the simulator finds faults at all (make simulate-mutants).
package simulation
