// Package sql tests the scripts of firn sql in real databases: PostgreSQL, MariaDB and SQLite.
//
// FIRN_TEST_POSTGRES and FIRN_TEST_MYSQL are the data source names of the servers. The default is
// the usual port on 127.0.0.1. Without a server a test is skipped, or fails if
// FIRN_REQUIRE_SERVICES=1. Each test makes a database of its own, with a random name.
package sql
