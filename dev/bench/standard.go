//go:build !go1.27

package main

// standardSubjects is empty: the standard library has no UUIDs before Go 1.27.
var standardSubjects []subject
