// Package sno makes and reads snos: 80-bit IDs in the order of time with a byte of
// metadata, unique among up to 65536 partitions. It is a drop-in replacement of the
// package github.com/muyo/sno, with its guarantees kept: see COMPAT.md for what differs
// and why, and docs/moving-from-sno.md for how to move.
//
//	bytes 0            4     5      6       7  8       9
//	┌───────────────┬─────┬──────┬───────────┬──────────┐
//	│ 39 bits       │ 1   │ 8    │ 16        │ 16       │
//	│ timestamp,    │tick-│ meta │ partition │ sequence │
//	│ 4 ms          │tock │ byte │           │          │
//	└───────────────┴─────┴──────┴───────────┴──────────┘
//
// A partition makes up to 65536 IDs in each unit of 4 ms, from 2010 to 2079. The text is
// 16 characters of [2-9a-x], which sort as the IDs do.
//
//	id := sno.New(0) // cufsekaqqudbobiw
//
// # Uniqueness and order
//
// The IDs of one [Generator] are distinct, those of NewWithTime apart, whose times are up
// to the caller, and so are the IDs of generators with different
// partitions, or with one partition and sequence bounds that do not overlap. That holds
// for any number of goroutines and whatever the clock does: a clock that goes back makes
// the generator toggle the tick-tock bit and go on at the clock's time; only a clock that
// goes back a second time, into a time that both settings of the bit have used, makes it
// wait. IDs of the same meta byte increase until the clock goes back.
//
// A generator does not remember its last ID over a restart, unless it is restored from a
// [GeneratorSnapshot] that was taken when it had stopped.
//
// # Zero
//
// No generator makes the zero ID. It stands for "no ID": it is null in
// JSON. In SQL it is ten zero bytes, as the replaced package has it, and NULL is read as it.
package sno
