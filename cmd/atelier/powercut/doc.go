// Package powercut runs the server on a disk whose power is cut and which fails,
// and checks that nothing is lost that the server has acknowledged.
//
//	make powercut                       # 200 power cuts, and every kind of fault
//	make powercut POINT=4711 SEED=8000  # one power cut of the last run again
//	make powercut FAULT='EIO (sync), table'
//	make powercut RECORD=1              # record the traces in testdata anew
//
// # What runs
//
// The real binary on the file system of persistence/powercut, under a load that
// does everything in kindsOfItems: codelabs, steps, attendees, messages, files, code,
// participants, tokens, API tokens are added and removed. Its memtable has 1 MiB and
// it starts again and again, after a stop or a kill, so that it flushes and
// compacts; a codelab takes a snapshot every 40 events. The load notes in the trace
// when it asks for a removal and when the server acknowledges something. One server
// keeps its files in the data folder, another in a folder of shared objects.
//
// # What is checked
//
// Behind each power cut the server starts on the folder that is left. Everything
// that it acknowledged before is there, unless a request to remove it was on its way.
// Everything that it acknowledged as removed is gone. If it refuses to start, the text names
// --recover-damaged, and that leads to all of it except tokens, which it voids.
//
// Faults (faults_test.go) are planned from what the server really does: for each kind of
// call on each kind of file that was recorded, each error that faultsOf has for it,
// once or until the server ends. Then the server starts without the fault, the power
// is cut, and the same is checked.
//
// A kind of call, of file, of item or of fault that never happened fails the run by
// its name. A table at the end says how often each happened.
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
