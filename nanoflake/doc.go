// Package nanoflake makes and reads Nanoflakes: 64-bit IDs in the order of time,
// unique among up to 1024 generators that share an epoch.
//
//	 63  62                     22  21         12  11         0
//	┌───┬────────────────────────┬───────────────┬─────────────┐
//	│ 0 │ 41 bits                │ 10 bits       │ 12 bits     │
//	│   │ timestamp, ms          │ generator ID  │ sequence    │
//	└───┴────────────────────────┴───────────────┴─────────────┘
//
// A generator makes up to 4096 IDs in a millisecond, for 69 years from its epoch:
//
//	gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 7})
//	id, err := gen.Next(ctx) // 07en9rb30swmf
//
// # Uniqueness and order
//
// Two IDs are never equal if their generators have the same epoch and different
// generator IDs, or are one and the same [Generator]. That holds for any number of
// goroutines and whatever the clock does while the process runs. A generator does
// not remember its last ID over a restart: a process that starts again with the
// clock set back can repeat IDs.
//
// The IDs of one generator increase in the order in which they are issued, and so
// do their texts and binary forms; see [Config] for an option that gives that up
// within a millisecond.
//
// # Epoch
//
// The epoch is not part of an ID: an application chooses one and keeps it. The zero
// time.Time stands for [DefaultEpoch] wherever this package takes one.
//
// # Zero
//
// No generator makes the zero ID. It stands for "no ID": it is null in JSON and
// NULL in SQL, and both are read as zero. Text and binary forms write its zeros.
//
// # Other implementations
//
// The specification has the timestamp shifted by 22 bits, and so has this package.
// The public implementations in Java, JavaScript and Kotlin shift it by 24: their
// IDs decode here to another time, generator ID and sequence. Texts that were written
// without padding are read by [ParseBase36] alone.
package nanoflake
