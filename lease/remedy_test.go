package lease

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/lease/driver"
)

// TestRunbook: the runbook has a row and a section for each kind of remedy.
func TestRunbook(t *testing.T) {
	page, err := os.ReadFile("../docs/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[driver.Remedy]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| \\[(.*)\\]\\(#.*\\) \\|$").FindAllStringSubmatch(string(page), -1) {
		rows[driver.Remedy(row[1])] = row[2]
	}
	for _, r := range driver.Remedies() {
		if !strings.Contains(string(page), "\n## "+rows[r]+"\n") {
			t.Errorf("there is no section %q for %s", rows[r], r)
		}
	}
	if len(rows) != len(driver.Remedies()) {
		t.Errorf("%d rows for %d remedies", len(rows), len(driver.Remedies()))
	}
}

func TestRemedyFor(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	record := func(key string, err error, r driver.Remedy) error {
		return &driver.Error{Store: "s", Op: "get", Key: key, Err: err, Remedy: r}
	}
	for _, test := range []struct {
		err  error
		want Remedy
	}{
		{nil, Remedy{}},
		{fs.ErrExist, Remedy{}},
		{&NoWorkerError{Pool: "p", Soonest: at}, Remedy{Kind: driver.RemedyWorker, Pool: "p", Until: at}},
		{&NoWorkerError{Pool: "p", Soonest: at, Recovered: true}, Remedy{Kind: driver.RemedyWait, Pool: "p", Until: at}},
		{&NoWorkerError{Pool: "p", Soonest: at, Ahead: true}, Remedy{Kind: driver.RemedyClock, Pool: "p", Until: at}},
		{&HeldError{Pool: "p", Holder: "h", Until: at}, Remedy{Kind: driver.RemedyWorker, Pool: "p", Until: at}},
		{&HeldError{Pool: "p", Excluded: true}, Remedy{Kind: driver.RemedyWorker, Pool: "p"}},
		{&HeldError{Pool: "p", Until: at}, Remedy{Kind: driver.RemedyClock, Pool: "p", Until: at}},
		{&SkewError{Pool: "p"}, Remedy{Kind: driver.RemedyClock, Pool: "p"}},
		{&MismatchError{Pool: "p"}, Remedy{Kind: driver.RemedyPool, Pool: "p"}},
		{&LostError{Pool: "p"}, Remedy{Kind: driver.RemedyWait, Pool: "p"}},
		{&StartingError{Pool: "p"}, Remedy{Kind: driver.RemedyWait, Pool: "p"}},
		{&StartingError{Pool: "p", Cause: record("", driver.ErrRefused, "")}, Remedy{Kind: driver.RemedyPermissions, Pool: "p"}},
		{&ExpiredError{Pool: "p", Cause: record("p/workers/00001", ErrRolledBack, "")}, Remedy{Kind: driver.RemedyRecover, Pool: "p"}},
		{ofPool("p", "%w in s", ErrNoPool), Remedy{Kind: driver.RemedyCreate, Pool: "p"}},
		{ofPool("p", "%w in s", ErrPoolExists), Remedy{Kind: driver.RemedyPool, Pool: "p"}},
		{fmt.Errorf("x: %w", record("p/pool", ErrDamaged, "")), Remedy{Kind: driver.RemedyRecover, Pool: "p", Lost: true}},
		{record("p/workers/00001", ErrMissing, ""), Remedy{Kind: driver.RemedyRecover, Pool: "p"}},
		{record("p/pool", ErrVersion, ""), Remedy{Kind: driver.RemedyVersion, Pool: "p"}},
		{record("p/pool", driver.ErrUnsafe, driver.RemedyRestored), Remedy{Kind: driver.RemedyRestored, Pool: "p"}},
		{record("", driver.ErrUnavailable, ""), Remedy{Kind: driver.RemedyConnect}},
		{record("", driver.ErrUnavailable, driver.RemedySettings), Remedy{Kind: driver.RemedySettings}},
		{record("", driver.ErrAddress, ""), Remedy{Kind: driver.RemedyAddress}},
		{record("p/pool", driver.ErrUnconfirmable, ""), Remedy{Kind: driver.RemedyMove, Pool: "p"}},
		{&iderr.ClockError{}, Remedy{Kind: driver.RemedyClock}},
		{iderr.ErrExhausted, Remedy{Kind: driver.RemedyWait}},
	} {
		if got := RemedyFor(test.err); got != test.want {
			t.Errorf("%v: %+v, want %+v", test.err, got, test.want)
		}
	}
}
