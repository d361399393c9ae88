//go:build linux

package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/servertest"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
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
			testkit.OK(t, err)
			for _, kind := range []string{"kill", "stop", "step", "requests lost", "replies lost", "delay", "server", "message"} {
				if !regexp.MustCompile(`(?m)^` + kind + ` .* [1-9]\d*$`).MatchString(out.String()) {
					t.Errorf("no %s", kind)
				}
			}
		})
	}
}
