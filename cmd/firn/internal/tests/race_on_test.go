//go:build race

package tests

// The race detector keeps notes of all memory, several times as much.
const raceDetector = true
