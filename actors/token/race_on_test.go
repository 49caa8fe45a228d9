//go:build race

package token

// Under the race detector everything is ten times slower.
const raceDetector = true
