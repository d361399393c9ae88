// Package sqltest tests IDs in real databases, PostgreSQL and MariaDB. The package needs the
// drivers of both databases, and is therefore a module of its own.
//
// FIRN_TEST_POSTGRES and FIRN_TEST_MYSQL are the data source names of the servers. The default is
// the usual port on 127.0.0.1. Without a server a test is skipped, or fails if
// FIRN_REQUIRE_SERVICES=1.
package sqltest
