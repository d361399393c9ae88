// Package testkit holds the test suites of all formats. Only tests import this package.
//
//	model.go      slow, obvious reference models of the formats, by math/big
//	encodings.go  the notations alone, for the codecs
//	vectors.go    the loader of testdata/*.json
//	suite.go      an ID type and its functions, for the suites
//	codec.go      suites: reading and writing, against the model
//	iface.go      suites: JSON, SQL, fmt, flag, slog
//	jsonv1.go     the versions of encoding/json; jsonv2.go with GOEXPERIMENT=jsonv2
//	times.go      suites: FromTime, First, Last, Time
//	generator.go  suites: generators with a clock that the test sets
//	standing.go   suite: generators while time stands still
//	list.go       suite: lists of IDs
//	must.go       steps that must succeed, and errors that must come
//	alloc.go      suite: allocations
//	spread.go     suite: IDs made slowly, over shards
//	stats.go      checks that values are spread, or random
//	imports.go    the check of imports between packages
//
// The models are written from the specifications and share nothing with the code under test.
package testkit
