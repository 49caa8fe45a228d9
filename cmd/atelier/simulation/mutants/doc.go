// Command mutants says whether the simulator (package simulation) is any good: it
// takes out, one at a time, the lines that keep the server's promises, and looks
// whether that is found.
//
//	make simulate-mutants             # all of them
//	make simulate-mutants MUTANT=17   # one, by its number or name, or several: 17,18
//	make simulate-mutants LIMIT=10000 # try up to so many seeds for each
//
// mutants.txt lists them, each with the promise it breaks. They are built beside the
// source with go's -overlay; no source file is changed. All that change functions share
// one build (combine.go): a function has a copy for each mutant of it, and calls the copy
// while MUTANT_ON in the environment has the mutant's number. So a hundred mutants take
// one build of the simulator and one of each package's tests. One that changes something
// else, such as a constant or SQL, has a build of its own.
//
// A mutant is run with seeds of the simulation, then with the package tests that its
// entry names. found.txt keeps what found it. That is tried first the next time, a few
// times, because the Go scheduler has choices of its own.
//
// # What counts as found
//
// A seed, or a test, fails with the mutant and passes without it. At the end there
// is a table. The program fails for a mutant that lives and is not shown to be
// equivalent, for one that is called equivalent and found, for one whose changed
// lines nothing ran, and for one that does not match the source or does not compile.
//
// # The list
//
//	== short-name
//	promise: what the lines promise
//	file: actors/durable/batch.go
//	 a line as it is
//	-a line taken out
//	+a line put in its place
//	test: ./actors/durable -run ^TestOfIt$
//	equivalent: why no run can tell it from the original
//
// Each line of source begins with a blank, a minus or a plus, and has its tabs. The
// lines with a blank or a minus are in the file exactly once, one below the other. An
// empty line ends a place; a mutant may change several, also in one file. "test" and
// "equivalent" are optional. A line that begins with # is a comment.
//
// If you change such a line, change its entry: otherwise TestEachMutantMatches fails.
package main
