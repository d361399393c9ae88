// Package snowflakesi makes and reads Snowflake-SI IDs: 53-bit IDs in the order of time. JavaScript
// numbers hold 53 bits exactly.
//
// The zero [Config] is machine ID 0, for a system with ONE generator. Two processes with the zero
// Config make equal IDs. A system with more generators gives each generator a machine ID of its own:
// pass Config.MachineID, or lease machine IDs with Config.Leased and lease.Start.
//
//	 52                    13  12     8  7        0
//	┌────────────────────────┬─────────┬────────────┐
//	│ 40 bits                │ 5 bits  │ 8 bits     │   Layout{}, the default
//	│ MAB: timestamp, ms     │ MID:    │ UIN:       │
//	│                        │ machine │ sequence   │
//	└────────────────────────┴─────────┴────────────┘
//
// A [Layout] adjusts the widths: 40 or 41 bits of timestamp, up to 13 bits of machine ID, and the
// sequence has the rest. The layout and the epoch are not part of an ID: an application chooses both,
// and keeps both.
//
//	gen, err := snowflakesi.NewGenerator(snowflakesi.Config{MachineID: 7})
//	id, err := gen.Next(ctx) // 1315899857217280
//
// Goroutines of a process share one [Generator]. [Generator.Time], [Generator.First] and
// [Generator.Last] use the layout and the epoch of the generator, and cannot be called with wrong
// ones.
//
// # Uniqueness and order
//
// Generators with the same epoch and layout, and with different machine IDs, never make equal IDs. A
// [Generator] never makes an ID twice. Both promises hold for any number of goroutines and for any
// steps of the clock while the process runs. A generator does not remember its last ID over a
// restart: a process that restarts with the clock set back can repeat IDs. A lease remembers.
//
// The IDs of one generator increase in the order of issue, as do the binary forms. Decimal texts
// have no padding: only texts of one length sort as the IDs do.
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
//   - [iderr.ErrExhausted]: the sequence has no number left in this millisecond
//   - [iderr.ErrClockBackwards]: the clock is behind the last ID; a *[iderr.ClockError] has the distance
//   - [iderr.ErrTimeRange]: a time is not after the epoch, or is after the last timestamp
//   - [iderr.ErrFenced]: a generator with a lease has no grant for this time; the error says why
package snowflakesi
