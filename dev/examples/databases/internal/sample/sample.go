// Package sample has the IDs of the tests.
package sample

import (
	"testing"
	"time"

	"github.com/firn-id/firn/nanoflake"
)

// Time returns the time of the i-th ID.
func Time(i int) time.Time {
	return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Minute)
}

// IDs returns seven IDs, one a minute.
func IDs(t testing.TB) []nanoflake.ID {
	t.Helper()
	ids := make([]nanoflake.ID, 7)
	for i := range ids {
		id, err := nanoflake.FromTime(Time(i), time.Time{}, 7, 0)
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = id
	}
	return ids
}

// Generator returns a generator with the epoch of the IDs.
func Generator(t testing.TB) *nanoflake.Generator {
	t.Helper()
	gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 7})
	if err != nil {
		t.Fatal(err)
	}
	return gen
}
