// Package facts has the commands about formats and the machine: firn explain and firn selftest.
//
//	explain.go        the command firn explain
//	tradeoffs.go      what to know before choosing a format
//	selftest.go       the command firn selftest
//	vectortest.go     its tests of vectors
//	generatortest.go  its test of generators
package facts
