// Package firn knows all of Firn's formats: it finds out which of them a text may be
// an ID of, and takes IDs apart. It is what tools need; programs that make IDs import
// the package of their format.
//
//	nanoflake    Nanoflakes: 64 bits, 1024 generators
//	ulidflake    Ulid-Flake: 64 bits, random, stand-alone or 32 scalabilities
//	snowflakesi  Snowflake-SI: 53 bits, safe in JavaScript's numbers
//	scru160      SCRU160: 160 bits, needs no coordination
//	sno          sno: 80 bits, 65536 partitions, a byte of metadata
package firn
