// Package scru160 makes and reads SCRU160 IDs: 160-bit IDs in the order of time that need no
// coordination, unique by at least 80 random bits.
//
// The zero [Config] is for any number of generators in any number of processes: random bits keep
// their IDs apart, and no generator needs a number of its own. A number is optional: with
// Config.NodeBits, an ID has the node ID of its generator. Give each generator a node ID of its own
// then: pass Config.NodeID, or lease node IDs with Config.Leased and lease.Start.
//
//	bytes 0    5  6    7  8        9  10       19
//	┌────────────┬───────┬───────────┬───────────┐
//	│ 48 bits    │ 16    │ 16        │ 80        │
//	│ timestamp, │ coun- │ random16  │ random80  │
//	│ Unix ms    │ ter   │           │           │
//	└────────────┴───────┴───────────┴───────────┘
//
// The text of an ID is 32 characters of base32hex, or 40 hexadecimal digits, in either case:
//
//	gen, err := scru160.NewGenerator(scru160.Config{})
//	id, err := gen.Next(ctx) // 06E23B7CCL83QK5LQ04AF9K79M1CF0BR
//
// # Uniqueness and order
//
// The IDs of one generator are distinct, and increase in the order of issue, by the timestamp and the
// counter alone. Texts and binary forms increase, too. The promise holds for any number of goroutines
// and for any steps of the clock while the process runs; [Config.Restart] gives up the order. The IDs
// of different generators, and of a generator before and after a restart, are distinct by their
// random bits. Random bits always come from a cryptographically strong source.
//
// # Zero
//
// No generator makes the zero ID: the timestamps 0 and 2^48-1 are reserved. The zero ID stands for
// "no ID", and is null in JSON. Databases get no zero ID, and NULL does not read as an ID: both are
// errors. Use a pointer or sql.Null for a column that may be NULL. Text and binary forms write the
// zeros.
//
// # Errors
//
// The errors of all formats are in package iderr. For a generator they mean:
//
//   - [iderr.ErrExhausted]: the counter has no number left in this tick
//   - [iderr.ErrClockBackwards]: the clock is behind the last ID; a *[iderr.ClockError] has the distance
//   - [iderr.ErrTimeRange]: the timestamp of a time is reserved or out of range
//   - [iderr.ErrFenced]: a generator with a lease has no grant for this time; the error says why
//
// # Databases
//
// An ID is its text in a database, for a CHAR(32) column. [Binary] is the type for a column of 20
// bytes.
package scru160
