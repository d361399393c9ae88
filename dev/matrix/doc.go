// Package matrix tests each type of IDs with each way to store IDs, and makes docs/matrix.md from the
// outcomes. A cell of the matrix works, or is an error, or is silently other: the program gets another ID
// than the ID stored, another row, or no row, and no error. The test fails if a cell is silently other, and
// if docs/matrix.md differs from the run:
//
//	go test -C dev ./matrix -update
//
// The cells need PostgreSQL, MariaDB and Redis, at the usual ports on 127.0.0.1 or as FIRN_TEST_POSTGRES,
// FIRN_TEST_MYSQL and FIRN_TEST_REDIS say.
package matrix
