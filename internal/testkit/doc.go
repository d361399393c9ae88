// Package testkit is what the tests of all formats share. Only tests import it.
//
//	model.go      slow, obvious reference models of the formats, by math/big
//	encodings.go  the notations by themselves, for the codecs
//	vectors.go    the loader of testdata/*.json
//	suite.go      an ID type with its functions, ready for the suites
//	codec.go      suites: reading and writing, against the model
//	iface.go      suites: JSON, SQL, fmt, flag, slog
//	jsonv1.go     which versions of encoding/json there are; jsonv2.go with GOEXPERIMENT=jsonv2
//	times.go      suites: FromTime, First, Last, Time
//	generator.go  suites: generators under a clock that the test sets
//	alloc.go      suite: allocations
//	spread.go     suite: IDs made slowly, over shards
//	stats.go      is it spread, is it random
//	imports.go    which package must not import which
//
// The models are written from the specifications and share nothing with the code under test.
package testkit
