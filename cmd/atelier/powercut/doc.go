// Package powercut runs the server on a disk that fails and whose power is cut. It verifies
// that everything that the server has acknowledged survives.
//
//	make powercut                       # 200 power cuts, and every kind of fault
//	make powercut POINT=4711 SEED=8000  # one power cut of the last run again
//	make powercut FAULT='EIO (sync), table'
//	make powercut RECORD=1              # record the traces in testdata again
//
// # What runs
//
// The real binary runs on the file system of persistence/powercut. Its load adds and
// removes everything in kindsOfItems: codelabs, steps, attendees, messages, files, code,
// participants, tokens and API tokens. The memtable has 1 MiB, and the server starts again
// and again, after a stop or a kill, so that it flushes and compacts. A codelab takes a
// snapshot every 40 events. The load notes in the trace when it asks for a removal and when
// the server acknowledges something. One server keeps its files in the data folder, another
// in a folder of shared objects.
//
// # What is checked
//
// After each power cut the server starts on the remaining folder. Everything that it
// acknowledged before is there, unless a request to remove it was in flight. Everything that
// it acknowledged as removed is gone. If the server refuses to start, the text names
// --recover-damaged. That flag recovers everything except tokens, which it voids.
//
// Faults (faults_test.go) are planned from the recorded calls of the server. Each kind of
// call on each kind of file fails with each error of faultsOf, once or until the server
// ends. Then the server starts without the fault, the power is cut, and the same is
// checked.
//
// If a kind of call, of file, of item or of fault never occurs, the run fails and names it.
// A table at the end has the number of occurrences.
//
// # Without a disk that can be mounted
//
// Ordinary tests replay the traces in testdata with 60 power cuts. They show that
// this program starts on what an earlier one has left. Only a live run shows that
// this program syncs.
//
// # What is not tried
//
// Bytes that change on the disk, and reads that fail: persistence/badger tries
// them. PostgreSQL's own files. Several power cuts in a row. A load with many
// clients at once: the simulation has those.
package powercut
