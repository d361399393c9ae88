// Package sqltest tests IDs in real databases, PostgreSQL and MariaDB. It is a module
// of its own, since it needs their drivers.
//
// The servers are found by FIRN_TEST_POSTGRES and FIRN_TEST_MYSQL, which hold data
// source names, or else at their usual ports on 127.0.0.1. A test whose server is not
// there is skipped, or fails with FIRN_REQUIRE_SERVICES=1.
package sqltest
