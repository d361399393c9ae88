package pools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
)

var watchedAt = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return watchedAt.Add(time.Duration(seconds * float64(time.Second)))
}

// held returns a worker that is held, with the last interval.
func held(number int, since, from, until time.Time) lease.Worker {
	return lease.Worker{Number: number, Held: true, Holder: fmt.Sprintf("firn (process %d on web-3)", 20000+number), Since: since, From: from, Until: until}
}

// TestWatchTenures: a later end of the same holder's interval is a renewal; another holder begins again.
func TestWatchTenures(t *testing.T) {
	seen := watchTenures(nil, []lease.Worker{held(3, at(0), at(0), at(10)), {Number: 4}, {Number: 5, Held: true, Err: errors.New("damaged")}}, at(1))
	if len(seen) != 1 || seen[3].renewals != 0 || !seen[3].renewed.IsZero() || seen[3].window != 10*time.Second {
		t.Errorf("%+v", seen)
	}
	seen = watchTenures(seen, []lease.Worker{held(3, at(0), at(0), at(10))}, at(2))
	seen = watchTenures(seen, []lease.Worker{held(3, at(0), at(10), at(13))}, at(3.5))
	seen = watchTenures(seen, []lease.Worker{held(3, at(0), at(16), at(19))}, at(9))
	if got := seen[3]; got.renewals != 2 || !got.renewed.Equal(at(9)) || got.window != 10*time.Second {
		t.Errorf("%+v", got)
	}
	seen = watchTenures(seen, []lease.Worker{held(3, at(20), at(20), at(50))}, at(21))
	if got := seen[3]; got.renewals != 0 || !got.renewed.IsZero() || got.window != 30*time.Second {
		t.Errorf("another holder: %+v", got)
	}
	if seen = watchTenures(seen, []lease.Worker{{Number: 3}}, at(22)); len(seen) != 0 {
		t.Errorf("a free worker: %+v", seen)
	}
}

func watched(t *testing.T, workers []lease.Worker) *watcher {
	t.Helper()
	store := memlease.New()
	layout := grant.Layout{Format: "nanoflake", Epoch: time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC), Unit: time.Millisecond, Widths: []int{41, 10, 12}, Workers: 1024}
	p, err := lease.Create(context.Background(), store, "nanoflake", layout)
	testkit.OK(t, err)
	w := &watcher{view: &view{s: &cli.Streams{}, every: time.Second}, store: store}
	w.take(reading{pool: p, workers: workers, at: watchedAt})
	return w
}

// TestWatchLines: the picture has the share of held workers and what an operator wants to see first, and fits
// 60, 80 and 125 columns.
func TestWatchLines(t *testing.T) {
	holder := lease.Holder{Host: "web-3", Process: 7, Program: "orders", Count: 1}
	w := watched(t, []lease.Worker{
		{Number: 1, Until: at(-100), Back: at(-100), Holders: []lease.Holder{holder}},
		held(2, at(-7200), at(0), at(-3)), // expired
		held(3, at(-7200), at(0), at(2.5)),
		{Number: 4, Err: lease.ErrDamaged},
		{Number: 5, Until: at(3600)},
	})
	w.take(reading{pool: w.pool, workers: append([]lease.Worker{}, w.workers...), at: watchedAt})
	for _, columns := range []int{60, 80, 125, cli.Unlimited} {
		lines := w.lines(watchedAt, columns, 0)
		text := strings.Join(lines, "\n")
		for _, line := range lines {
			if uniseg.StringWidth(line) > columns {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
		var order []string
		for _, line := range lines {
			if words := strings.Fields(line); len(words) > 1 && slices.Contains(states, words[1]) {
				order = append(order, words[0])
			}
		}
		if got := strings.Join(order, ""); !strings.HasSuffix(got, "43251") {
			t.Errorf("%d columns: the order is %s\n%s", columns, got, text)
		}
		for _, want := range []string{"held  1 of 1024 workers, 0.1 %  █░", "\n1 damaged, 1 expired, 1 ahead, 1 free, 1019 never used\n", "2.5 s left"} {
			if !strings.Contains(text, want) {
				t.Errorf("%d columns: no %q in\n%s", columns, want, text)
			}
		}
	}
	if text := strings.Join(w.lines(watchedAt, 125, 0), "\n"); !strings.Contains(text, "██████████   2.5 s left  0 ") || !strings.Contains(text, "░░░░░░░░░░   0.0 s left  0 ") {
		t.Error(text)
	}

	// After an error the picture is the last one, with the reason.
	w.take(reading{err: errors.New("store away"), at: at(5)})
	if text := strings.Join(w.lines(at(9), cli.Unlimited, 0), "\n"); !strings.Contains(text, "(9 seconds ago); since then: store away") || !strings.Contains(text, "held  0 of 1024") {
		t.Error(text)
	}
}

func TestFold(t *testing.T) {
	lines := strings.Split("a b c d e", " ")
	for _, v := range []struct {
		rows, unmade int
		want         string
	}{
		{0, 0, "a b c d e"}, {5, 0, "a b c d e"}, {9, 0, "a b c d e"}, {3, 0, "a b … lines left out: 3 (see --worker)"},
		{1, 0, "… lines left out: 5 (see --worker)"}, {5, 7, "a b c d … lines left out: 8 (see --worker)"}, {9, 7, "a b c d e … lines left out: 7 (see --worker)"},
	} {
		if got := strings.Join(fold(lines, v.rows, v.unmade), " "); got != v.want {
			t.Errorf("%d rows: %s", v.rows, got)
		}
	}
}

// TestWatchManyWorkers: the picture of a large pool fits the rows, with those workers first that an operator
// wants to see, and says how much is missing.
func TestWatchManyWorkers(t *testing.T) {
	var workers []lease.Worker
	for n := range 1000 {
		workers = append(workers, lease.Worker{Number: n, Until: at(-9)})
	}
	workers[999] = held(999, at(-9), at(0), at(7))
	w := watched(t, workers)
	lines := w.lines(watchedAt, 80, 20)
	text := strings.Join(lines, "\n")
	if len(lines) != 20 || !strings.Contains(text, "\n999     held ") || !strings.Contains(text, "\n0       free") || !strings.HasSuffix(text, "\n… lines left out: 988 (see --worker)") {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
}
