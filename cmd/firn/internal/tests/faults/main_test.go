//go:build linux

package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/torture"
	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/servertest"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/turn"
)

func TestMain(m *testing.M) {
	if os.Getenv(asProcess) == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

// needs skips a test without the servers of a store, or fails the test if servers are required.
func needs(t *testing.T, store string) {
	t.Helper()
	var err error
	switch store {
	case "etcd":
		_, err = etcdtest.Server(t.Context())
	case "postgres":
		var s *pgtest.Server
		if s, err = pgtest.Start(t.Context(), pgtest.Config{}); err == nil {
			s.Close()
		}
	default:
		servertest.Require(t)
	}
	if err != nil {
		services.Missing(t, "no servers of %s: %v", store, err)
	}
}

// A short matrix of each store has all kinds of faults, and no violation.
func TestMatrix(t *testing.T) {
	services.Full(t)
	for store := range stores {
		t.Run(store, func(t *testing.T) {
			needs(t, store)
			turn.Take(t)
			var out bytes.Buffer
			err := run(t.Context(), strings.Fields("-stores "+store+" -runs 1 -duration 8s -window 400ms -ids 200000 -processes 4 -least 0"), &out)
			t.Log(out.String())
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []string{"kill", "stop", "step", "requests lost", "replies lost", "delay", "server", "message"} {
				if !regexp.MustCompile(`(?m)^` + kind + ` .* [1-9]\d*$`).MatchString(out.String()) {
					t.Errorf("no %s", kind)
				}
			}
		})
	}
}

// A violation is an error, and so is a fault that did not happen.
func TestReport(t *testing.T) {
	sum := func(happened int, violated int64) *torture.Summary {
		s := &torture.Summary{IDs: 10, Violations: map[string]int64{},
			Faults: []torture.FaultCount{{Kind: "kill", Planned: 3, Happened: happened}}}
		if violated > 0 {
			s.Violations["duplicate"] = violated
		}
		return s
	}
	for _, c := range []struct {
		name string
		sums []*torture.Summary
		want string
	}{
		{"all is well", []*torture.Summary{sum(3, 0), sum(2, 0)}, ""},
		{"too few", []*torture.Summary{sum(3, 0), sum(1, 0)}, "happened less than 5 times: kill"},
		{"violated", []*torture.Summary{sum(3, 0), sum(3, 1)}, "uniqueness was violated in 1 runs"},
	} {
		m := matrix{faults: make(map[string]*torture.FaultCount)}
		for _, s := range c.sums {
			m.add(s)
		}
		var out bytes.Buffer
		err := m.report(&out, 5)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: %v, want %q\n%s", c.name, err, c.want, out.String())
		}
		if m.ids != 20 || m.runs != 2 {
			t.Errorf("%s: %d IDs of %d runs", c.name, m.ids, m.runs)
		}
	}
}
