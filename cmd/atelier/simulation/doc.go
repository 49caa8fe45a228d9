// Package simulation runs several nodes of the server in one process, with
// simulated time, store and network, under random load and random faults. It verifies the
// guarantees of the server. One seed determines load and faults.
//
//	make simulate                    # 2,000 seeds, on all processors
//	make simulate SEED=17            # one of them
//	make simulate NODES=3 SEEDS=500
//	make simulate FOR=8h             # further seeds for so long
//	make simulate SEED=17 PLAN='nodes=2 without=kill-a-node'
//
// # What runs
//
// The real code from actors/durable upwards runs: owners, followers, forwarding, erasing and
// rooms. So do the codelab with every command of its vocabulary (actors/codelab/draw), the
// list of codelabs, retention, sessions, participants, tokens and webhooks. So does the
// register of files with its claims and sweeps. The layers below are simulated:
//
//   - The store is persistence/memory. Each node has a lease that it renews, a queue
//     and a latency of its own. It passes the same suites as PostgreSQL
//     (journaltest.Run and RunShared).
//   - The network is actors/durable/bustest, which passes the suite of buses.
//   - Contents of files are in a place that all nodes share (contents.go). It keeps
//     what files.Blobs promises: each put is an object of its own, which stays while
//     its lease holds; a removal lists, asks the register, then removes what it listed.
//   - Time is simulated by testing/synctest, so a minute of a workshop takes
//     milliseconds. Each node has a clock of its own over it (clocktest); in a sixth of
//     all seeds they differ all the time, by less than what health checks report.
//
// Clients act at one node and then at another. Attendees register, leave, repeat a command
// with its reference elsewhere, and use several tabs at once. Facilitators remove, edit,
// end and delete (clients_test.go). Connections listen and return with their position
// (listeners.go). Payers use tokens (tokens.go), and people sign in and out (grants.go).
// People upload files, refer to them at one node while others remove the reference at
// another, make codelabs of them, and delete those (uploads.go). A webhook has a receiver
// (hooks.go). In half of all seeds people act mostly on one subject, since behaviour that
// needs several commands hardly ever occurs if commands are drawn from all (draw.Subjects).
//
// # Faults
//
// faults_test.go has the table. Links are cut one way or both, messages are lost, slow or
// doubled, and queues overflow. A node loses its lease, cannot reach the store, is paused while
// its timers wait, or has a wrong time of day. It is stopped in order, is killed (the store
// keeps any first part of its queue), moves a codelab to another node, or has a full disk or
// queue. Commits fail, their answers are lost whether they succeeded or not, and the store
// hangs. Contents are stored late, or refused, or their node is killed meanwhile (contents.go).
// At the end all faults stop and everybody rests. Then all nodes are killed and started. If
// files were uploaded, all nodes are down for 15 more minutes, and one starts and sweeps.
//
// # What is checked
//
// The finding begins with the name in front.
//
//	acknowledged  what was acknowledged was committed before, is there, and stays;
//	              every view is what all records ever committed lead to, applied in
//	              order from the first (reference_test.go)
//	rules         what transport/rest/RULES.md says of people and steps, help, polls,
//	              questions, the timer, pins, the pointer and pulses: models that share
//	              no code with the codelab (actors/codelab/oracle) are told of each
//	              event, and compare what a commit led to
//	snapshot      a state from a snapshot at a random position and the records behind
//	              it is the state of all records, field by field, and so is what each
//	              node shows at the end (actors/durable/statetest); fields that a
//	              snapshot leaves out have a struct tag with the reason
//	once          nothing is done twice, with a reference or without
//	same view     all nodes show the same at a position, byte for byte
//	linearizable  what was answered has an order (porcupine); no read is behind
//	audience      each message is for those whom transport/rest/RULES.md names, and for
//	              nobody else; it does not name the author of an anonymous question
//	frames        a listener gets each frame once, in order, or reads anew; an ack
//	              is not before its frame
//	removed       who was removed is in no view, and has no connection
//	erased        nor in a snapshot, record, row, or frame kept for replay; nor is what
//	              was deleted, or a question that was merged
//	anonymous     no record tells who voted in an anonymous poll that was counted
//	deleted       nothing is left of a deleted codelab: at once when all is whole,
//	              else after the next start
//	tokens        what was answered about each token keeps its rules (porcupine)
//	presence      all nodes name the people who are connected, when all is quiet, and
//	              nobody who was connected to a node that ended unheard
//	grants        a session or key is good everywhere once acknowledged, and
//	              nowhere once its end is
//	uploads       an upload, or the content of a submission, stays while a codelab
//	              refers to it, and while a claim says so (uploadchecks.go); in the end
//	              nothing of files is left to which nothing refers (uploadsleft.go)
//	answers       everybody is answered, in time, and only with errors that are known;
//	              when all is whole each node takes a write
//	webhooks      each event that a webhook wants is delivered at least once, and none
//	              that happens while it is stopped; it is stopped after 20 refused tries in
//	              a row, not earlier
//	divergence    no copy counts as one that differs from its owner: nobody lies
//	out           a node whose lease was over before a question does not answer it
//	rest          what nobody uses leaves: owners, copies, rows of erasing, and what
//	              a node listens to
//	goroutines    none is left of nodes that are gone
//	crash         nothing panics, and nothing waits for a mutex whose holder waits
//	              for time
//
// TestOraclesNotice gives each of them a wrong answer. A run of 1,000 seeds or more also
// fails if a command was never accepted, a kind of message never lost, or a fault never
// triggered. The table at its end has the numbers.
//
// # A run that fails
//
// It prints the finding, the seed and its plan, and makes the plan smaller as long as the
// same oracle finds something. Then it prints the steps of the people and things of the
// finding, between the faults: time, person, node, action, and the acknowledged position
// ("= 17"). The whole history goes to a file. Each process has one processor
// (GOMAXPROCS=1). Runs still differ, since the Go scheduler makes choices of its own
// (select, the order in which goroutines wake) and ids are random. Of ten seeds that found
// the same fault, repeated five times each, 45 of 50 repetitions failed again. A race
// between two goroutines that meet at one moment failed 9 times of 30. So repeat a seed
// that passes a few times before you believe it.
//
// # What is not simulated
//
// Badger and its files: persistence/badger, and make powercut below it. PostgreSQL's
// own isolation: persistence/postgres. The NATS servers between nodes, their sealing,
// and that a command never comes twice: transport/bus. REST, WebSocket and the
// browser: cmd/atelier/acceptance. The files of contents and workspaces, the minimum age of
// a removed object, backups: persistence/objects. Clocks whose speed differs: a node uses
// its lease for two thirds of the database's time, and guarantees nothing beyond that. A
// node whose time of day is ahead takes a token for expired that others still use; the
// oracle allows for that. A process stops only where it calls its store, network or clock.
//
// # How to add
//
// A command must be in actors/codelab/draw, or a test fails. A fault is a row in
// faults_test.go, in the table faults. An oracle calls model.fail with its name, which is
// in the list above. In lies_test.go it needs a wrong answer to notice. Package mutants
// measures whether the simulator finds faults at all (make simulate-mutants).
package simulation
