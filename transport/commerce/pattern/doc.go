// Package pattern compiles the regular expressions of schemas, which JSON
// Schema writes in ECMA-262.
//
// What that dialect and RE2 have in common, which is nearly everything people
// write, runs in linear time. Look-ahead, look-behind and back-references need
// an engine that backtracks: each match of it has a time limit, and a caller
// that holds many values against a stranger's patterns counts what it spends.
package pattern
