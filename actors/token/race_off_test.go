//go:build !race

package token

const raceDetector = false
