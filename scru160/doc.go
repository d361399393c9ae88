// Package scru160 makes and reads SCRU160 IDs: 160-bit IDs in the order of time that
// need no coordination, unique by at least 80 random bits.
//
//	bytes 0    5  6    7  8        9  10       19
//	┌────────────┬───────┬───────────┬───────────┐
//	│ 48 bits    │ 16    │ 16        │ 80        │
//	│ timestamp, │ coun- │ random16  │ random80  │
//	│ Unix ms    │ ter   │           │           │
//	└────────────┴───────┴───────────┴───────────┘
//
// Its text is 32 characters of base32hex, or 40 of hex, either in any case:
//
//	gen, err := scru160.NewGenerator(scru160.Config{})
//	id, err := gen.Next(ctx) // 05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6
//
// # Uniqueness and order
//
// The IDs of one generator are distinct, and increase in the order in which they are
// issued, by their timestamp and counter alone, and so do their texts and binary
// forms; for any number of goroutines and whatever the clock does while the process
// runs (but see [Config.Restart]). Among generators, and over restarts, IDs are
// distinct by the random bits, which always come from a cryptographically strong
// source.
//
// # Zero
//
// No generator makes the zero ID: the timestamps 0 and 2^48-1 are reserved. It stands
// for "no ID": it is null in JSON and NULL in SQL, and both are read as zero. Text
// and binary forms write its zeros.
package scru160
