// Package ulidflake makes and reads Ulid-Flakes: 64-bit IDs in the order of time that are hard to
// guess, in the stand-alone version and in the scalable version.
//
// A stand-alone [Generator] is for a system with ONE generator. Stand-alone IDs have no number of a
// generator, and 20 random bits do not keep generators apart: 1200 generators that make an ID in the
// same millisecond make two equal IDs with probability one half. A system with more generators uses a
// [ScalableGenerator] for each. The zero [ScalableConfig] is scalability 0, for one generator again:
// two processes with the same scalability can make equal IDs. Pass each generator a
// ScalableConfig.Scalability of its own, or lease scalabilities with ScalableConfig.Leased and
// lease.Start. With Config.Leased, stand-alone generators take turns: a lease allows one generator at
// a time.
//
//	 63  62                     20  19                     0
//	┌───┬────────────────────────┬──────────────────────────┐
//	│ 0 │ 43 bits                │ 20 bits                  │  ID
//	│   │ timestamp, ms          │ randomness               │
//	├───┼────────────────────────┼────────────────┬─────────┤
//	│ 0 │ 43 bits                │ 15 bits        │ 5 bits  │  ScalableID
//	│   │ timestamp, ms          │ randomness     │ scal.   │
//	└───┴────────────────────────┴────────────────┴─────────┘
//
// The first ID of a millisecond has a random number, drawn uniformly over all values. Each further ID
// of the millisecond adds a random increment, of 8 bits unless Config.IncrementBits says otherwise.
// Timestamps count from 2024 and last until 2302.
//
// A system with one generator needs no Generator:
//
//	id := ulidflake.New()        // 01XFNNY35ZJA7
//	n := ulidflake.New().Int()   // 69231503516617031
//
// A system with more generators gives each generator a scalability:
//
//	gen, err := ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Scalability: 7})
//	id, err := gen.Next(ctx) // 01XFNNY35ZJA7
//
// # Uniqueness and order
//
// The IDs of one generator are distinct, and increase in the order of issue, as do the texts and
// binary forms. The promise holds for any number of goroutines and for any steps of the clock while
// the process runs. Generators with different scalabilities never make equal scalable IDs. A
// generator does not remember its last ID over a restart. A lease remembers.
//
// # Epoch
//
// The epoch is not part of an ID. The zero time.Time stands for [DefaultEpoch] wherever this package
// takes an epoch. [Generator.Time], [Generator.First] and [Generator.Last] use the epoch of the
// generator, and cannot be called with a wrong epoch.
//
// # Zero
//
// No generator makes the zero ID. The zero ID stands for "no ID", and is null in JSON. Databases get
// no zero ID, and NULL does not read as an ID: both are errors. Use a pointer or sql.Null for a
// column that may be NULL. Text and binary forms write the zeros.
//
// # Errors
//
// The errors of all formats are in package iderr. For a generator they mean:
//
//   - [iderr.ErrExhausted]: the randomness has passed its largest value in this millisecond
//   - [iderr.ErrRange], the overflow error of the specification: the value is beyond 7ZZZZZZZZZZZZ, the randomness
//     is beyond its largest value, or a time is after the last timestamp
//   - [iderr.ErrClockBackwards]: the clock is behind the last ID; a *[iderr.ClockError] has the distance
//   - [iderr.ErrTimeRange]: a time is not after the epoch, or is after the last timestamp
//   - [iderr.ErrFenced]: a generator with a lease has no grant for this time; the error says why
//
// # Databases
//
// An ID is an integer in a database, for a BIGINT column. [Text] and [ScalableText] are the types for a column of
// text. Each type reads only the form of its column: no value reads as another ID.
package ulidflake
