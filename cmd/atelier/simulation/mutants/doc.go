// Command mutants measures whether the simulator (package simulation) finds faults. It removes the
// lines that implement the server's guarantees, one guarantee at a time, and reports whether the
// simulator notices.
//
//	make simulate-mutants             # all of them
//	make simulate-mutants MUTANT=17   # one, by its number or name, or several: 17,18
//	make simulate-mutants LIMIT=10000 # try up to this number of seeds for each
//
// mutants.txt lists the mutants, each with the guarantee that it breaks. Builds use go's -overlay,
// so that no source file is changed. All mutants that change functions share one build
// (combine.go). A function has a copy for each of its mutants, and calls the copy if MUTANT_ON in
// the environment is the mutant's number. A hundred mutants therefore take one build of the
// simulator and one of each package's tests. A mutant that changes something else, such as a
// constant or SQL, has its own build.
//
// A mutant is run with seeds of the simulation, and then with the package tests in its entry.
// found.txt records the seed or test that found it, and the next run tries this seed or test first.
// It runs the seed up to five times, because the Go scheduler makes choices of its own.
//
// # What counts as found
//
// A mutant is found if a seed or a test fails with it and passes without it. The program prints a
// table at the end. It fails for a mutant that survives and is not declared equivalent, and for a
// mutant that is declared equivalent but found. It also fails for a mutant that is not found and
// has a changed place that never ran. It fails for a mutant that does not match the source or does
// not compile.
//
// # The list
//
//	== short-name
//	promise: the guarantee of the lines
//	file: actors/durable/batch.go
//	 an unchanged line
//	-a removed line
//	+an added line
//	test: ./actors/durable -run ^TestOfIt$
//	equivalent: why no run can distinguish it from the original
//
// Each source line begins with a space, a minus or a plus, and includes its tabs. The lines with a
// space or a minus are in the file exactly once, as consecutive lines. An empty line ends a place.
// A mutant can change several places, even in one file. "test" and "equivalent" are optional. A
// line that begins with # is a comment.
//
// If you change such a line, also change its entry. Otherwise TestEachMutantMatches fails.
package main
