//go:build race

package token

// raceDetector is on: everything is ten times slower.
const raceDetector = true
