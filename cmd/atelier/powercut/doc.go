// Package powercut runs the server on a disk that fails and loses power. It verifies that no
// acknowledged change is lost.
//
//	make powercut                       # 200 power cuts, and every kind of fault
//	make powercut POINT=4711 SEED=8000  # repeat one power cut of the last run
//	make powercut FAULT='EIO (sync), table'
//	make powercut RECORD=1              # record the traces in testdata again
//
// # What runs
//
// The real binary runs on the file system of persistence/powercut. Its load adds and removes items
// of all kinds in kindsOfItems: codelabs, steps, attendees, messages, files, code, participants,
// tokens and API tokens. So that the store flushes and compacts, the memtable has only 1 MiB, and
// the server restarts repeatedly after a shutdown or a kill. A codelab takes a snapshot every 40
// events. The load records in the trace each request for a removal, and each acknowledgement by the
// server. One server stores its files in the data folder, and another in a folder of shared
// objects.
//
// # What is checked
//
// After each power cut the server starts on the remaining folder. Everything that the server
// acknowledged before the cut must exist, unless a request to remove it was in flight. Everything
// that the server acknowledged as removed must be gone. If the server refuses to start, its error
// must mention --recover-damaged. That flag recovers everything except tokens, which it voids.
//
// Faults (faults_test.go) are planned from the recorded calls of the server. Each kind of call on
// each kind of file fails with each error of faultsOf, once or until the server ends. Then the
// server starts without the fault, the power is cut, and the same checks are made.
//
// If a kind of call, file, item or fault never occurs, the run fails and reports it. A table at the
// end contains the number of occurrences.
//
// # Without a disk that can be mounted
//
// Ordinary tests replay the traces in testdata with 60 power cuts. They show that this program
// starts on data left by an earlier program. Only a live run shows that this program syncs.
//
// # What is not tried
//
// persistence/badger tests bytes that change on the disk, and reads that fail. The simulation tests
// a load with many concurrent clients. Several power cuts in a row, and PostgreSQL's own files, are
// not tested.
package powercut
