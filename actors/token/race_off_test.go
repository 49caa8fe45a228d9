//go:build !race

package token

// raceDetector is off.
const raceDetector = false
