package redislease_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/redislease"
)

// TestPermissions: a user with the rights of Permissions alone does all that a program does. Without any of the rights,
// the user cannot, and other keys are out of reach.
func TestPermissions(t *testing.T) {
	for name, settings := range map[string]string{
		"plain": "0?timeout=2m", "prefix": "0?timeout=2m&prefix=a:b", "database": "3?timeout=2m",
	} {
		t.Run(name, func(t *testing.T) {
			srv := start(t, durable...)
			at := func(user string) string { return "redis://" + user + srv.Host() + "/" + settings }
			owner := storetest.Prepare(t, redislease.Open, at(""))
			testkit.OK(t, minter.Create(t.Context(), owner))
			admin := client(t, srv.Host())
			command(t, admin, "SCRIPT", "FLUSH")
			use := func(user, without string) error {
				t.Helper()
				text, err := redislease.Permissions(at(user+"@"), "")
				testkit.OK(t, err)
				args := words(text)
				for i := len(args) - 1; i >= 0; i-- {
					if args[i] == without {
						args = append(args[:i], args[i+1:]...)
					}
				}
				command(t, admin, append(args, ">hunter2")...)
				s, err := redislease.Open(t.Context(), at(user+":hunter2@"))
				if err != nil {
					return err
				}
				defer s.Close()
				found, err := storetest.Program(t.Context(), s)
				for _, f := range found {
					if err == nil && (strings.Contains(f.Text, "INFO") || strings.Contains(f.Text, "CONFIG GET")) {
						err = fmt.Errorf("%s", f.Text)
					}
				}
				return err
			}
			testkit.OK(t, use("whole", ""))
			text, err := redislease.Permissions(at("x@"), "")
			testkit.OK(t, err)
			n := 0
			for right := range strings.FieldsSeq(text) {
				if strings.HasPrefix(right, "+") || strings.HasPrefix(right, "~") {
					n++
					if right == "+eval" || right == "+zadd" { // the server knows the scripts; a new record
						continue
					}
					err := use(fmt.Sprint("without", n), right)
					if err == nil {
						t.Errorf("%s is not needed", right)
					} else if _, ok := errors.AsType[*driver.Error](err); ok {
						storetest.Fails(t, "without "+right, err, driver.ErrUnavailable, "remedy: permissions")
					}
				}
			}
			other := redis.NewClient(&redis.Options{Addr: srv.Host(), Username: "whole", Password: "hunter2"})
			defer other.Close()
			if err := other.HGet(t.Context(), "other", "a").Err(); !strings.Contains(fmt.Sprint(err), "NOPERM") {
				t.Errorf("another key: %v", err)
			}
		})
	}
	t.Run("cluster", func(t *testing.T) {
		srv := start(t, append([]string{"--cluster-enabled", "yes"}, durable...)...)
		admin := client(t, srv.Host())
		form(t, admin)
		at := func(user string) string { return "redis://" + user + srv.Host() + "/0?timeout=2m&cluster=true" }
		testkit.OK(t, minter.Create(t.Context(), storetest.Prepare(t, redislease.Open, at(""))))
		text, err := redislease.Permissions(at("ids@"), "")
		testkit.OK(t, err)
		command(t, admin, append(words(text), ">hunter2")...)
		if _, err := storetest.Program(t.Context(), storetest.Open(t, redislease.Open, at("ids:hunter2@"))); err != nil {
			t.Error(err)
		}
	})
	for _, v := range [][2]string{{"etcd://a@h/0", ""}, {"redis://h/0", ""}, {"redis://h/0", "a b"}, {"redis://h/0", "a\nb"}, {"redis://a@h/x", ""}, {"redis://a@h/0?prefix=a%20b", ""}, {"redis://a@h/0?wait-replicas=x", ""}, {"redis://a@h/0?wait-aof=x", ""}} {
		if text, err := redislease.Permissions(v[0], v[1]); err == nil {
			t.Errorf("%q: %s", v, text)
		}
	}
}
