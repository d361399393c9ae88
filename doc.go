// Package firn reads IDs of all formats, for tools: it detects the format of an ID, and takes IDs apart.
// Programs that make IDs import the package of their format.
//
//	nanoflake    Nanoflakes: 64 bits, 1024 generators
//	ulidflake    Ulid-Flake: 64 bits, random, stand-alone or 32 scalabilities
//	snowflakesi  Snowflake-SI: 53 bits, safe in JavaScript's numbers
//	scru160      SCRU160: 160 bits, needs no coordination
//	sno          sno: 80 bits, 65536 partitions, a byte of metadata
package firn
