// Package pgxtest tests IDs and package pgxid with pgx and a real PostgreSQL: each type, in columns of
// each kind, in each mode of pgx, with and without pgxid.Register.
//
// FIRN_TEST_POSTGRES is the address of the server. The default is the usual port on 127.0.0.1. Without
// a server a test is skipped, or fails if FIRN_REQUIRE_SERVICES=1.
package pgxtest
