package driver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

func TestCheckKey(t *testing.T) {
	long := strings.Repeat("x", driver.MaxName)
	for _, key := range []string{"a", "pool/workers/00007", "nanoflake@1577836800000/pool", "a.b-c_d", "0", "a/b.c", long + "/" + long} {
		if err := driver.CheckKey(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{"", "/", "/a", "a/", "a//b", ".", "..", "a/../b", ".a", "a/.b", "A", "ä", "a b", "a\x00", "a=", `a\b`, "a:b", long + "x", "a/" + long + "x/b"} {
		testkit.Is(t, driver.CheckKey(key), driver.ErrKey, "%q", key)
	}
}

func TestError(t *testing.T) {
	err := error(&driver.Error{Store: "memory", Op: "put", Key: "a/b", Err: driver.ErrUnavailable, Advice: "try again"})
	if want := "memory: put a/b: store unavailable: try again"; err.Error() != want || !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("%v, want %s", err, want)
	}
	if got := (&driver.Error{Store: "memory", Op: "list", Err: driver.ErrVersion}).Error(); got != "memory: list: written by another version" {
		t.Error(got)
	}
}

// TestRefused: a store that refuses the program is unavailable, in the same words, and not the other way round.
func TestRefused(t *testing.T) {
	err := fmt.Errorf("%w: no such user", driver.ErrRefused)
	if !errors.Is(err, driver.ErrUnavailable) || !errors.Is(err, driver.ErrRefused) || errors.Is(driver.ErrUnavailable, driver.ErrRefused) || err.Error() != "store unavailable: no such user" {
		t.Error(err)
	}
}

func TestWorstFirst(t *testing.T) {
	var got strings.Builder
	for _, f := range driver.WorstFirst([]driver.Finding{{Text: "a"}, {Text: "b", Loses: true}, {Text: "c", Blocks: true}, {Text: "d", Loses: true}}) {
		got.WriteString(f.Text)
	}
	if got.String() != "bdca" {
		t.Errorf("%s, want bdca", got.String())
	}
}

func TestSignal(t *testing.T) {
	c := make(chan struct{}, 1)
	driver.Signal(c)
	driver.Signal(c) // does not wait
	if len(c) != 1 {
		t.Errorf("%d values are waiting", len(c))
	}
}
