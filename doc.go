// Package firn is the root of a module for time-ordered unique IDs, and has no code. A program
// imports the package of a format:
//
//	nanoflake    Nanoflakes: 64 bits, 1024 generators
//	ulidflake    Ulid-Flake: 64 bits, random, stand-alone or 32 scalabilities
//	snowflakesi  Snowflake-SI: 53 bits, safe in JavaScript's numbers
//	scru160      SCRU160: 160 bits, needs no coordination
//	sno          sno: 80 bits, 65536 partitions, a byte of metadata
//
// Package lease gives each generator of a system a separate worker number, from files of one
// machine (lease/filelease) or a database of many machines (lease/pglease and others). Package
// iderr has the errors of all formats, and package inspect reads the IDs of all formats. The
// program examples/hello shows a lease at work.
package firn
