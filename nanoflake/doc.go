// Package nanoflake makes and reads Nanoflakes: 64-bit IDs in the order of time, unique among up to
// 1024 generators with the same epoch.
//
// The zero [Config] is generator ID 0, for a system with ONE generator. Two processes with the zero
// Config make equal IDs. A system with more generators gives each generator a generator ID of its
// own: pass Config.GeneratorID, or lease generator IDs with Config.Leased and lease.Start.
//
//	 63  62                     22  21         12  11         0
//	┌───┬────────────────────────┬───────────────┬─────────────┐
//	│ 0 │ 41 bits                │ 10 bits       │ 12 bits     │
//	│   │ timestamp, ms          │ generator ID  │ sequence    │
//	└───┴────────────────────────┴───────────────┴─────────────┘
//
// A generator makes up to 4096 IDs in a millisecond, for 69 years from the epoch:
//
//	gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 7})
//	id, err := gen.Next(ctx) // 0549x5l2itvr4
//
// Goroutines of a process share one [Generator].
//
// # Uniqueness and order
//
// Generators with the same epoch and different generator IDs never make equal IDs. A [Generator]
// never makes an ID twice. Both promises hold for any number of goroutines and for any steps of the
// clock while the process runs.
//
// A generator keeps nothing over a restart, as the specification intends. A generator that takes the
// place of another with the same generator ID repeats no ID if the clock shows a later millisecond
// than the last ID has. Two things break this condition: a clock that was set back, and a new generator
// within the millisecond of the last ID. A lease remembers the last time, and holds the condition.
//
// The IDs of one generator increase in the order of issue, as do the texts and binary forms.
// [StartAnywhere] gives up the order within a millisecond.
//
// # Epoch
//
// The epoch is not part of an ID: an application chooses an epoch and keeps the epoch. The zero
// time.Time stands for [DefaultEpoch] wherever this package takes an epoch. [Generator.Time],
// [Generator.First] and [Generator.Last] use the epoch of the generator, and cannot be called with a
// wrong epoch.
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
//   - [iderr.ErrExhausted]: all 4096 IDs of this millisecond are made
//   - [iderr.ErrClockBackwards]: the clock is behind the last ID; a *[iderr.ClockError] has the distance
//   - [iderr.ErrTimeRange]: a time is not after the epoch, or is after the last timestamp
//   - [iderr.ErrFenced]: a generator with a lease has no grant for this time; the error says why
//
// # Databases
//
// An ID is an integer in a database, for a BIGINT column. [Text] is the type for a column of text.
// Each type reads only the form of its column: no value reads as another ID.
//
// # Other implementations
//
// A Snowflake of Twitter is a Nanoflake with the epoch 1288834974657, in Unix milliseconds. The
// generator ID is the datacenter ID times 32, plus the worker ID.
//
// The specification shifts the timestamp by 22 bits, as this package does. The public implementations
// in Java, JavaScript and Kotlin shift the timestamp by 24 bits: their IDs decode here to another
// time, generator ID and sequence. [ParseBase36] reads texts without padding, as other
// implementations write them.
package nanoflake
