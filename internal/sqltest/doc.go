// Package sqltest is the module of tests that need the drivers of databases. No release publishes the module.
// Package matrix runs every type of IDs through every way to store IDs.
//
// FIRN_TEST_POSTGRES, FIRN_TEST_MYSQL and FIRN_TEST_REDIS are the data source names of the servers. The default
// is the usual port on 127.0.0.1. Without a server a test is skipped, or fails if FIRN_REQUIRE_SERVICES=1.
package sqltest
