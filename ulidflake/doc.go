// Package ulidflake makes and reads Ulid-Flakes: 64-bit IDs in the order of time that
// are hard to guess, in the stand-alone version and in the scalable one.
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
// The first ID of a millisecond has a randomness drawn uniformly over all values;
// each that follows is the last one plus a random increment. Timestamps count from
// 2024 and last until 2302.
//
//	gen, err := ulidflake.NewGenerator(ulidflake.Config{IncrementBits: 6})
//	id, err := gen.Next(ctx) // 00CMXB6TAK4SA
//
// # Uniqueness and order
//
// The IDs of one generator are distinct and increase in the order in which they are
// issued, and so do their texts and binary forms, for any number of goroutines and
// whatever the clock does while the process runs. Scalable IDs are also distinct
// among generators with different scalabilities. Two stand-alone generators can make
// the same ID: with 20 random bits, about 1200 of them in the same millisecond do so
// with probability one half. A generator does not remember its last ID over a
// restart.
//
// # Epoch
//
// The epoch is not part of an ID. The zero time.Time stands for [DefaultEpoch]
// wherever this package takes one.
//
// # Zero
//
// No generator makes the zero ID. It stands for "no ID": it is null in JSON and
// NULL in SQL, and both are read as zero. Text and binary forms write its zeros.
package ulidflake
