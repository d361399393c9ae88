// Package sqlgen tests the generator inside PostgreSQL: connections that make IDs while servers,
// backends and feeds are killed and stopped, and while clocks jump. The tests start servers of
// their own, on Linux.
package sqlgen
