package sno_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

// A snapshot of a leased generator says so, also in JSON, and makes no generator: its partition would
// not be leased. Other snapshots have the published members alone.
func TestSnapshotOfLeased(t *testing.T) {
	leased := newGenerator(t, sno.Config{Leased: true})
	now := time.Now()
	if err := leased.ForLease().Grant(0x0304, now.Add(-time.Minute), now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	leased.New(7)
	for _, g := range []*sno.Generator{leased, newGenerator(t, sno.Config{}), newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{}})} {
		taken := g.Snapshot()
		text, err := json.Marshal(taken)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "leased") != (g == leased) {
			t.Errorf("in JSON: %s", text)
		}
		var read sno.GeneratorSnapshot
		if err := json.Unmarshal(text, &read); err != nil || read != taken {
			t.Errorf("%s is read as %+v, %v", text, read, err)
		}
		_, err = sno.NewGenerator(&read, nil)
		if g != leased && err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if g == leased {
			testkit.IsConfigError(t, err, "sno", "Snapshot", "start a lease")
		}
	}
}
