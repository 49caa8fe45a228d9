// Command mutants measures whether the simulator (package simulation) finds faults. It
// removes, one at a time, the lines that implement the server's guarantees, and reports
// whether the simulator notices.
//
//	make simulate-mutants             # all of them
//	make simulate-mutants MUTANT=17   # one, by its number or name, or several: 17,18
//	make simulate-mutants LIMIT=10000 # try up to so many seeds for each
//
// mutants.txt lists them, each with the guarantee it breaks. They are built beside the
// source with go's -overlay; no source file is changed. All mutants that change functions
// share one build (combine.go). A function has a copy for each of its mutants, and calls
// the copy if MUTANT_ON in the environment is the mutant's number. So a hundred mutants
// take one build of the simulator and one of each package's tests. A mutant that changes
// something else, such as a constant or SQL, has a build of its own.
//
// A mutant is run with seeds of the simulation, then with the package tests that its
// entry names. found.txt keeps what found it. That is tried first the next time, a few
// times, because the Go scheduler has choices of its own.
//
// # What counts as found
//
// A seed, or a test, fails with the mutant and passes without it. At the end there is a
// table. The program fails for a mutant that survives and is not proven equivalent, and for
// one that is declared equivalent but found. It also fails for a mutant whose changed lines
// never ran, and for one that does not match the source or does not compile.
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
