// Package sno makes and reads snos: 80-bit IDs in the order of time with a byte of metadata, unique
// among up to 65536 partitions. The package is a drop-in replacement for github.com/muyo/sno:
// COMPAT.md lists the differences, and docs/moving-from-sno.md shows how to move.
//
// The zero [Config], NewGenerator(nil, nil) and the package-level [New] are for a system with ONE
// process. They use partitions of the process: no two generators of the process share a partition.
// The first partition of a process is drawn at random out of 65536, so two processes have the same
// partition by chance; of 300 processes, two do with probability one half, and make equal IDs. A
// system with more processes gives each generator a partition of its own: pass
// GeneratorSnapshot.Partition, or lease partitions with Config.Leased and lease.Start.
//
//	bytes 0            4     5      6       7  8       9
//	┌───────────────┬─────┬──────┬───────────┬──────────┐
//	│ 39 bits       │ 1   │ 8    │ 16        │ 16       │
//	│ timestamp,    │tick-│ meta │ partition │ sequence │
//	│ 4 ms          │tock │ byte │           │          │
//	└───────────────┴─────┴──────┴───────────┴──────────┘
//
// A partition makes up to 65536 IDs in each time unit of 4 ms, from 2010 to 2079. The text of an ID
// is 16 characters of [2-9a-x]. Texts sort as the IDs do.
//
//	gen, err := sno.NewGenerator(&sno.GeneratorSnapshot{Partition: sno.Partition{0, 7}}, nil)
//	id := gen.New(255) // 9eglwgjkxu22g222
//
// # Uniqueness and order
//
// The IDs of one [Generator] are distinct. Generators with different partitions never make equal
// IDs; generators with one partition do not either, if their sequence bounds do not overlap. These
// promises hold for any number of goroutines and for any steps of the clock. They do not hold for
// NewWithTime, whose times are up to the caller.
//
// IDs of the same meta byte increase until the clock goes back. Then the generator toggles the
// tick-tock bit and continues at the new clock time. A generator waits if the clock goes back a
// second time, into a time that both settings of the bit have used.
//
// A generator does not remember its last ID over a restart. Restore the generator from a
// [GeneratorSnapshot] taken after the last ID, or lease the partition.
//
// # Zero
//
// No generator makes the zero ID. The zero ID stands for "no ID", and is null in JSON. Databases
// get no zero ID: that is an error. NULL reads as the zero ID, as in the replaced package.
//
// # Databases
//
// An ID is ten bytes in a database, for a BYTEA or BINARY(10) column. [Text] is the type for a
// column of text, and [UUID] the type for a column of type UUID.
package sno
