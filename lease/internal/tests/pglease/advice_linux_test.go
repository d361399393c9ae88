package pglease_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/firn-id/firn/internal/testing/advice"
	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/sources"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/pglease"
)

// unfollowed is advice that no fault of the tables meets, each with the reason.
var unfollowed = map[string]string{
	"free some space on the server's disk":                                                                     "TestFull follows it",
	"put a proxy such as PgBouncer between":                                                                    "TestBouncer follows it, with two connections for all its clients",
	"use the version of this program that the other users of the table have":                                   "the table has had one version so far",
	"COMMENT ON TABLE %v IS 'Leases of Firn. Do not delete or change a row by hand: IDs would be made twice.'": "a warning in the database",
}

// TestAdvice follows the advice of errors and findings on a server of its own, which has a standby.
func TestAdvice(t *testing.T) {
	storetest.Unset(t, "PG")
	s := advised{server(t, pgtest.Config{Settings: map[string]string{"fsync": "off"}}), nil} // so that a restart is quick
	s.second = standby(t, s.Server, "second", pgtest.Config{Settings: map[string]string{"fsync": "off", "wal_retrieve_retry_interval": "100ms"}})
	advice.Check(t, advice.Test{
		Tables: [][]advice.Fault{addresses(s), logins(t, s), tables(s), calls(s), standbys(s), outages(s), findings(s)},
		Texts:  sources.Texts(t, filepath.Join("..", "..", "..", "pglease")), Least: 35, Unfollowed: unfollowed})
}

// An advised server is where errors give advice.
type advised struct {
	*pgtest.Server
	second *pgtest.Server // the standby
}

// at returns the address of a table of the server, with more settings.
func (s advised) at(table string, settings ...string) string {
	return storetest.With(s.Address(), append(settings, "table="+table)...)
}

// make makes a table of the server, for a user with the rights of leases.
func (s advised) make(t *testing.T, table, user string) {
	t.Helper()
	storetest.Prepare(t, pglease.Open, s.at(table)).Close()
	grants, err := pglease.Grant(table, user)
	testkit.OK(t, err)
	execute(t, s.Server, "CREATE ROLE "+user+" LOGIN", grants)
}

// both returns an address with the standby and the primary.
func (s advised) both(settings ...string) string {
	return storetest.With(fmt.Sprintf("postgres://postgres@127.0.0.1:%d,127.0.0.1:%d/postgres?sslmode=disable", s.second.Port(), s.Port()), settings...)
}

// file writes a file in the directory of the server, for the server alone. A file that is there gets
// more lines before the first one.
func (s advised) file(t *testing.T, name, content string) {
	t.Helper()
	execute(t, s.Server, fmt.Sprintf("COPY (SELECT unnest(string_to_array('%s', E'\\n'))) TO PROGRAM 'umask 077; cat - $(ls %[2]s 2>/dev/null) >new; mv new %[2]s'",
		strings.TrimSpace(content), name), "SELECT pg_reload_conf()")
}

// same fails the test unless an error has an advice, too.
func same(t *testing.T, err error, says string) {
	t.Helper()
	if text := advice.Text(t, err); !strings.Contains(text, says) {
		t.Fatalf("%s\nhas no %q", text, says)
	}
}

// opens opens a store.
func opens(t *testing.T, addr string) error {
	t.Helper()
	st, err := pglease.Open(t.Context(), addr)
	if err == nil {
		st.Close()
	}
	return err
}

// soon calls f until f returns no error. A setting takes effect a moment after the change.
func soon(f func() error) (err error) {
	wait.For(func() bool {
		err = f()
		return err == nil
	})
	return err
}

// changes makes an entry in a store, or changes the entry.
func changes(ctx context.Context, st *pglease.Store) error {
	e, err := st.Get(ctx, "a")
	if err == nil || errors.Is(err, driver.ErrNotFound) {
		_, err = st.Put(ctx, "a", []byte("x"), cmp.Or(e.Revision, driver.None))
	}
	return err
}

// starts takes a worker of the pool of package minter.
func starts(t *testing.T, st driver.Store) error {
	t.Helper()
	_, held, err := minter.Start(t.Context(), st, lease.Config{Wait: wait.Patience})
	if err == nil {
		err = held.Close()
	}
	return err
}

// creates does in the library what firn pool create does, and takes a worker.
func creates(t *testing.T, st driver.Store) error {
	t.Helper()
	if err := minter.Create(t.Context(), st); err != nil {
		return err
	}
	return starts(t, st)
}

// rescues rescues the pool of package minter, of which the store has nothing, and takes a worker.
func rescues(t *testing.T, st driver.Store) error {
	t.Helper()
	spec, err := new(minter.Generator).Pool()
	testkit.OK(t, err)
	_, err = lease.Rescue(t.Context(), st, spec.Name,
		lease.RescueConfig{Window: time.Millisecond, Skew: time.Millisecond, Layouts: []grant.Layout{spec.Layout}, Create: true})
	if err != nil {
		return err
	}
	return starts(t, st)
}

// A locked table is locked by another client, for a call to wait.
type locked struct {
	holder *pgx.Conn
	done   chan error
}

// lock locks a table, and begins a call.
func (s advised) lock(t *testing.T, table string, call func() error) locked {
	t.Helper()
	l := locked{connect(t, s.Address()), make(chan error, 1)}
	run(t, l.holder, "BEGIN; LOCK TABLE %s", table)
	go func() { l.done <- call() }()
	return l
}

// behind is lock, and returns when the call waits for the lock.
func (s advised) behind(t *testing.T, table string, call func() error) locked {
	t.Helper()
	l := s.lock(t, table, call)
	wait.Until(t, "the call waits for the lock", func() bool { return s.waiting(t) == 1 })
	return l
}

const waiters = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND backend_type = 'client backend'"

// waiting returns how many calls wait for a lock.
func (s advised) waiting(t *testing.T) int {
	t.Helper()
	return scan[int](t, s, "SELECT count(*) "+waiters)
}

// result waits for the error of the call.
func (l locked) result(t *testing.T) error {
	t.Helper()
	err, _ := wait.Receive(t, "the result of the call", l.done)
	return err
}

// end ends the lock, and waits for the error of the call.
func (l locked) end(t *testing.T) error {
	t.Helper()
	run(t, l.holder, "ROLLBACK")
	return l.result(t)
}

// A refusing proxy refuses clients as PgBouncer does, until it lets all through.
type refusing struct {
	proxy
	refuses atomic.Pointer[string]
}

// refusing returns a proxy for the server. The proxy refuses clients with a message.
func (s advised) refusing(t *testing.T, message string) *refusing {
	t.Helper()
	p := &refusing{proxy: proxy{allow: -1}}
	p.open.L = &p.mu
	p.refuses.Store(&message)
	var err error
	p.listener, err = loopback.Proxy(net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port())), func(client, server net.Conn) {
		why := p.refuses.Load()
		if why == nil {
			p.serve(client, server)
			return
		}
		b := pgproto3.NewBackend(client, client)
		if _, err := b.ReceiveStartupMessage(); err == nil {
			b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "08P01", Message: *why})
			b.Flush()
		}
	})
	testkit.OK(t, err)
	t.Cleanup(func() { p.listener.Close() })
	return p
}

// addresses are faults of addresses and parameters.
func addresses(s advised) []advice.Fault {
	open := func(addr string) func(t *testing.T) error {
		return func(t *testing.T) error { return opens(t, addr) }
	}
	var p *refusing
	return []advice.Fault{
		{Name: "a scheme", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, "mysql://root@127.0.0.1/test")) },
			Ways: advice.Ways{"want postgres://": open(s.Address())}},
		{Name: "a table", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, s.at("a.b.c"))) }, Ways: advice.Ways{
			"want schema.name": func(t *testing.T) error {
				st := storetest.Open(t, pglease.Open, s.at("named.Leases_1-$"))
				return creates(t, st)
			},
		}},
		{Name: "a user", Meet: func(t *testing.T) string { return advice.Text(t, testkit.Err(pglease.Grant("", ""))) }, Ways: advice.Ways{
			"want the name of a user of the database": func(t *testing.T) error {
				grants, err := pglease.Grant("named.Leases_1-$", "postgres")
				testkit.OK(t, err)
				return s.Exec(t.Context(), grants)
			},
		}},
		{Name: "a host", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, "postgres://me@no..where/db")) }, Ways: advice.Ways{
			"see that the name of the host is right": open(strings.Replace(s.Address(), "127.0.0.1", "localhost", 1)),
		}},
		{Name: "a setting", Meet: func(t *testing.T) string {
			return advice.Text(t, opens(t, storetest.With(s.Address(), "options=-c%20nonsense=1")))
		}, Ways: advice.Ways{
			"see whether the server, or the proxy before it, takes the settings in the address": open(storetest.With(s.Address(), "options=-c%20work_mem=1MB")),
			"or the proxy before it": func(t *testing.T) error {
				p := s.refusing(t, "unsupported startup parameter in options: work_mem")
				same(t, opens(t, p.address(s.Address())), "or the proxy before it, takes the settings")
				p.refuses.Store(nil)
				return opens(t, p.address(s.Address()))
			},
			"and in PGOPTIONS": func(t *testing.T) error {
				t.Setenv("PGOPTIONS", "-c nonsense=1")
				same(t, opens(t, s.Address()), "and in PGOPTIONS")
				t.Setenv("PGOPTIONS", "-c work_mem=1MB")
				return opens(t, s.Address())
			},
		}},
		{Name: "a proxy", Meet: func(t *testing.T) string {
			p = s.refusing(t, "no such database: postgres")
			return advice.Text(t, opens(t, p.address(s.Address())))
		}, Ways: advice.Ways{
			"see in the log of the proxy before the server what is missing": func(t *testing.T) error {
				p.refuses.Store(nil)
				return opens(t, p.address(s.Address()))
			},
		}},
		{Name: "a pool without Configure", Meet: func(t *testing.T) string {
			_, err := pglease.New(t.Context(), newPool(t, s.Address(), func(*pgxpool.Config) {}), pglease.Options{})
			return advice.Text(t, err)
		}, Ways: advice.Ways{
			"call pglease.Configure with the configuration, and make the pool of it after that": func(t *testing.T) error {
				return testkit.Err(pglease.New(t.Context(), newPool(t, s.Address(), pglease.Configure), pglease.Options{}))
			},
		}},
		{Name: "an old server", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, seems(t, s.Address(), "9.6.24", "90624"))) },
			Ways: advice.Ways{"use PostgreSQL 10 or later": open(s.Address())}},
	}
}

// logins are faults of users, databases and certificates.
func logins(all *testing.T, s advised) []advice.Fault {
	var cert, key string // files of the certificate that the server has
	content := func(t *testing.T, file string) string {
		t.Helper()
		content, err := os.ReadFile(file)
		testkit.OK(t, err)
		return string(content)
	}
	serve := func(t *testing.T, newCert, newKey string) {
		t.Helper()
		cert, key = newCert, newKey
		execute(t, s.Server, "COPY (SELECT) TO PROGRAM 'cat >/dev/null; rm -f server.crt server.key'")
		s.file(t, "server.crt", content(t, cert))
		s.file(t, "server.key", content(t, key))
	}
	verified := func(settings ...string) string {
		return storetest.With(strings.Replace(s.Address(), "sslmode=disable", "sslmode=verify-full", 1), settings...)
	}
	return []advice.Fault{
		{Name: "a certificate", Meet: func(t *testing.T) string {
			newCert, newKey := storetest.Certify(all)
			serve(t, newCert, newKey)
			s.file(t, "ca.crt", content(t, cert))
			execute(t, s.Server, "ALTER SYSTEM SET ssl = on", "ALTER SYSTEM SET ssl_ca_file = 'ca.crt'", "SELECT pg_reload_conf()")
			var err error
			wait.Until(t, "the server has a certificate", func() bool {
				err = opens(t, verified())
				return !strings.Contains(fmt.Sprint(err), "refused TLS")
			})
			return strings.Replace(advice.Text(t, err), "write failed", "failed", 1) // which is no advice to write
		}, Ways: advice.Ways{
			"see to sslmode": func(t *testing.T) error { return opens(t, strings.Replace(verified(), "verify-full", "require", 1)) },
			"sslrootcert":    func(t *testing.T) error { return opens(t, verified("sslrootcert="+cert)) },
			"sslcert and sslkey": func(t *testing.T) error { // the certificate is none that the server knows
				ofClient, itsKey := storetest.Certify(all)
				same(t, opens(t, verified("sslrootcert="+cert, "sslcert="+ofClient, "sslkey="+itsKey)), "sslcert and sslkey")
				return opens(t, verified("sslrootcert="+cert, "sslcert="+cert, "sslkey="+key))
			},
			"and to the server's certificate": func(t *testing.T) error {
				newCert, newKey := storetest.Certify(all)
				same(t, opens(t, verified("sslrootcert="+newCert)), "and to the server's certificate")
				serve(t, newCert, newKey)
				return soon(func() error { return opens(t, verified("sslrootcert="+cert)) })
			},
		}},
		{Name: "a password", Meet: func(t *testing.T) string {
			execute(t, s.Server, "CREATE ROLE guarded LOGIN PASSWORD 'hunter2'")
			s.file(t, "pg_hba.conf", "host all guarded 127.0.0.1/32 scram-sha-256\nhost all outside 127.0.0.1/32 reject")
			var err error
			wait.Until(t, "the server asks for a password", func() bool {
				err = opens(t, storetest.With(as(s.Address(), "guarded"), "password=hunter22"))
				return err != nil
			})
			return advice.Text(t, err)
		}, Ways: advice.Ways{
			"see that the user, and the password": func(t *testing.T) error {
				return cmp.Or(opens(t, storetest.With(as(s.Address(), "guarded"), "password=hunter2")), opens(t, s.Address()))
			},
			"(password-file": func(t *testing.T) error {
				return opens(t, storetest.With(as(s.Address(), "guarded"), "password-file="+storetest.File(t, "hunter2\n")))
			},
			"password-env": func(t *testing.T) error {
				t.Setenv("FIRN_TEST_PASSWORD", "hunter2")
				return opens(t, storetest.With(as(s.Address(), "guarded"), "password-env=FIRN_TEST_PASSWORD"))
			},
			"sslcert, sslkey)": func(t *testing.T) error {
				execute(t, s.Server, "CREATE ROLE certain LOGIN")
				s.file(t, "pg_hba.conf", "hostssl all certain 127.0.0.1/32 trust clientcert=verify-ca")
				s.file(t, "ca.crt", content(t, cert))
				certain := as(verified("sslrootcert="+cert), "certain")
				wait.Until(t, "the server asks for a certificate", func() bool { return opens(t, certain) != nil })
				same(t, opens(t, certain), "sslcert, sslkey)")
				return soon(func() error { return opens(t, storetest.With(certain, "sslcert="+cert, "sslkey="+key)) })
			},
			"that the user may log in (ALTER ROLE … LOGIN)": func(t *testing.T) error {
				execute(t, s.Server, "CREATE ROLE idle")
				same(t, opens(t, as(s.Address(), "idle")), "(ALTER ROLE … LOGIN)")
				execute(t, s.Server, "ALTER ROLE idle LOGIN")
				return opens(t, as(s.Address(), "idle"))
			},
			"and that pg_hba.conf of the server lets the user in from here": func(t *testing.T) error {
				execute(t, s.Server, "CREATE ROLE outside LOGIN")
				same(t, opens(t, as(s.Address(), "outside")), "and that pg_hba.conf")
				s.file(t, "pg_hba.conf", "host all outside 127.0.0.1/32 trust")
				return soon(func() error { return opens(t, as(s.Address(), "outside")) })
			},
		}},
		{Name: "a database", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, s.database("none", "x.leases"))) }, Ways: advice.Ways{
			"see that the name of the database is right": func(t *testing.T) error { return opens(t, s.Address()) },
			"or create it": func(t *testing.T) error {
				execute(t, s.Server, "CREATE DATABASE none")
				return creates(t, storetest.Open(t, pglease.Open, s.database("none", "x.leases")))
			},
			"rescue each instead of creating it": func(t *testing.T) error {
				execute(t, s.Server, "DROP DATABASE none WITH (FORCE)", "CREATE DATABASE none")
				return rescues(t, storetest.Open(t, pglease.Open, s.database("none", "x.leases")))
			},
		}},
	}
}

// database returns the address of a table in a database.
func (s advised) database(name, table string) string {
	return strings.Replace(s.at(table), "/postgres?", "/"+name+"?", 1)
}

// tables are faults of tables and rights.
func tables(s advised) []advice.Fault {
	var st *pglease.Store
	var meet string
	return []advice.Fault{
		{Name: "no table", Meet: func(t *testing.T) string {
			st = storetest.Open(t, pglease.Open, s.at("gone.leases"))
			return advice.Text(t, starts(t, st))
		}, Ways: advice.Ways{
			"see that the address is right, with its table": func(t *testing.T) error {
				s.make(t, "there.leases", "somebody")
				return creates(t, storetest.Open(t, pglease.Open, s.at("there.leases")))
			},
			"or create the table gone.leases once, as its owner, with firn pool create": func(t *testing.T) error {
				return creates(t, st)
			},
			"rescue each instead of creating it": func(t *testing.T) error {
				execute(t, s.Server, "DROP SCHEMA gone CASCADE")
				same(t, starts(t, st), "rescue each")
				return rescues(t, st)
			},
		}},
		{Name: "the table of something else", Meet: func(t *testing.T) string {
			execute(t, s.Server, "CREATE SCHEMA other", "CREATE TABLE other.leases (id int PRIMARY KEY, name text)")
			return advice.Text(t, starts(t, storetest.Open(t, pglease.Open, s.at("other.leases"))))
		}, Ways: advice.Ways{
			"name that of the leases in the address, table=schema.name, which firn pool create makes": func(t *testing.T) error {
				return creates(t, storetest.Open(t, pglease.Open, storetest.With(s.Address(), "table=other.firn")))
			},
			"to go on in another table, stop all processes that use this one, and rescue its pools there before any of them is started again": func(t *testing.T) error {
				return rescues(t, storetest.Open(t, pglease.Open, s.at("other.another")))
			},
		}},
		{Name: "no rights", Meet: func(t *testing.T) string {
			storetest.Prepare(t, pglease.Open, s.at(`ids.leases`)).Close()
			execute(t, s.Server, "CREATE ROLE poor LOGIN")
			st = storetest.Open(t, pglease.Open, as(s.at("ids.leases"), "poor"))
			meet = advice.Text(t, changes(t.Context(), st))
			return meet
		}, Ways: advice.Ways{
			"grant the user what leases need": func(t *testing.T) error {
				_, rights, _ := strings.Cut(meet, "CONNECT ON DATABASE, ")
				rights, _, _ = strings.Cut(rights, "; ")
				for right := range strings.SplitSeq(rights, " and ") {
					execute(t, s.Server, "GRANT "+right+" TO poor")
				}
				return changes(t.Context(), st)
			},
			"CONNECT ON DATABASE": func(t *testing.T) error {
				execute(t, s.Server, "CREATE DATABASE narrow", "REVOKE ALL ON DATABASE narrow FROM PUBLIC")
				addr := as(s.database("narrow", "x.leases"), "poor")
				same(t, opens(t, addr), "CONNECT ON DATABASE")
				execute(t, s.Server, "GRANT CONNECT ON DATABASE narrow TO poor")
				return opens(t, addr)
			},
			"to create the table takes an owner, once": func(t *testing.T) error {
				addr := s.at("owned.leases")
				poor := storetest.Open(t, pglease.Open, as(addr, "poor"))
				same(t, minter.Create(t.Context(), poor), "takes an owner, once")
				owner := storetest.Open(t, pglease.Open, addr)
				testkit.OK(t, owner.Prepare(t.Context()))
				grants, err := pglease.Grant("owned.leases", "poor")
				testkit.OK(t, err)
				execute(t, s.Server, grants)
				return creates(t, poor)
			},
		}},
	}
}

// calls are faults of calls that other clients, limits and settings disturb.
func calls(s advised) []advice.Fault {
	change := func(t *testing.T, st *pglease.Store) func() error {
		return func() error { return changes(t.Context(), st) }
	}
	end := func(t *testing.T, function string) { // ends what waits
		execute(t, s.Server, "SELECT "+function+"(pid) "+waiters)
	}
	// The log of the server says why a call or a connection ended.
	logs := func(t *testing.T, reason string) {
		t.Helper()
		wait.Until(t, "the log says "+reason, func() bool { return strings.Contains(s.Log(), reason) })
	}
	var st *pglease.Store
	var l locked
	return []advice.Fault{
		{Name: "a lock", Meet: func(t *testing.T) string {
			s.make(t, "lock.leases", "hasty")
			st = storetest.Open(t, pglease.Open, as(s.at("lock.leases"), "hasty"))
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			l = s.lock(t, "lock.leases", func() error { return changes(ctx, st) })
			return advice.Text(t, l.result(t))
		}, Ways: advice.Ways{
			"see what has locked lock.leases or a row of it: pg_locks, pg_stat_activity": func(t *testing.T) error {
				state := scan[string](t, s, "SELECT state FROM pg_stat_activity WHERE pid IN (SELECT pid FROM pg_locks WHERE relation = 'lock.leases'::regclass AND granted)")
				if state != "idle in transaction" {
					return fmt.Errorf("the holder of the lock is %s", state)
				}
				execute(t, s.Server, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'lock.leases'::regclass AND granted")
				return changes(t.Context(), st)
			},
		}},
		{Name: "a deadlock", Meet: func(t *testing.T) string {
			storetest.Prepare(t, pglease.Open, s.at("dead.leases")).Close()
			var err error
			timeout := 50 * time.Millisecond
			wait.Until(t, "a call is part of a deadlock", func() bool {
				timeout *= 2 // the server looks for a deadlock once, and the lock of the other client may come later on a busy machine
				st = storetest.Open(t, pglease.Open, s.at("dead.leases", "timeout=20s", fmt.Sprintf("options=-c%%20deadlock_timeout=%d", timeout.Milliseconds())))
				testkit.OK(t, changes(t.Context(), st))
				other := connect(t, s.Address())
				run(t, other, "SET deadlock_timeout = '1h'; BEGIN; SELECT FROM dead.leases WHERE key = 'a' FOR UPDATE")
				done := make(chan error, 1)
				go func() { done <- changes(t.Context(), st) }()
				wait.Until(t, "the call waits for the row", func() bool { return s.waiting(t) == 1 })
				run(t, other, "LOCK TABLE dead.leases")
				run(t, other, "ROLLBACK")
				err, _ = wait.Receive(t, "the result of the call", done)
				return strings.Contains(fmt.Sprint(err), "40P01")
			})
			return advice.Text(t, err)
		}, Ways: advice.Ways{"try again": func(t *testing.T) error { return changes(t.Context(), st) }}},
		{Name: "a cancelled call", Meet: func(t *testing.T) string {
			s.make(t, "brief.leases", "brief")
			execute(t, s.Server, "ALTER ROLE brief SET statement_timeout = '300ms'")
			wait.Until(t, "a busy machine opens the store in time", func() bool {
				var err error
				st, err = pglease.Open(t.Context(), as(s.at("brief.leases", "timeout=1m"), "brief"))
				return err == nil
			})
			l = s.lock(t, "brief.leases", change(t, st))
			return advice.Text(t, l.result(t))
		}, Ways: advice.Ways{
			"see what has cancelled it": func(t *testing.T) error {
				run(t, l.holder, "ROLLBACK")
				patient := storetest.Open(t, pglease.Open, s.at("brief.leases", "timeout=1m"))
				l = s.behind(t, "brief.leases", change(t, patient))
				end(t, "pg_cancel_backend")
				same(t, l.result(t), "see what has cancelled it")
				logs(t, "canceling statement due to user request")
				run(t, l.holder, "ROLLBACK")
				return changes(t.Context(), patient)
			},
			"or raise statement_timeout": func(t *testing.T) error {
				defer st.Close()
				execute(t, s.Server, "ALTER ROLE brief SET statement_timeout = '1min'")
				l = s.lock(t, "brief.leases", change(t, st))
				wait.Until(t, "the call has ended, or has waited for longer than before", func() bool {
					return len(l.done) == 1 || scan[int](t, s, "SELECT count(*) "+waiters+" AND clock_timestamp() > query_start + interval '600ms'") == 1
				})
				return l.end(t)
			},
		}},
		{Name: "an ended connection", Meet: func(t *testing.T) string {
			st = storetest.Prepare(t, pglease.Open, s.at("ended.leases", "timeout=1m"))
			l = s.behind(t, "ended.leases", change(t, st))
			end(t, "pg_terminate_backend")
			return advice.Text(t, l.result(t))
		}, Ways: advice.Ways{
			"see why the server ends connections; it may be restarting": func(t *testing.T) error {
				logs(t, "terminating connection due to administrator command")
				run(t, l.holder, "ROLLBACK")
				return changes(t.Context(), st)
			},
		}},
		{Name: "connections", Meet: func(t *testing.T) string {
			s.make(t, "many.leases", "many")
			execute(t, s.Server, "ALTER ROLE many CONNECTION LIMIT 1")
			st = storetest.Open(t, pglease.Open, as(s.at("many.leases", "timeout=1m"), "many"))
			l = s.behind(t, "many.leases", change(t, st))
			text := advice.Text(t, changes(t.Context(), st))
			testkit.OK(t, l.end(t))
			return text
		}, Ways: advice.Ways{
			"have fewer connections (pool_max_conns)": func(t *testing.T) error {
				testkit.OK(t, st.Close())
				var one *pglease.Store
				err := soon(func() (err error) { // the server ends the connection of the last store a moment later
					one, err = pglease.Open(t.Context(), as(s.at("many.leases", "timeout=1m", "pool_max_conns=1"), "many"))
					return err
				})
				if err != nil {
					return err
				}
				defer one.Close()
				return s.atOnce(t, "many.leases", one)
			},
			"raise the server's or the user's limit": func(t *testing.T) error {
				execute(t, s.Server, "ALTER ROLE many CONNECTION LIMIT 10")
				return s.atOnce(t, "many.leases", storetest.Open(t, pglease.Open, as(s.at("many.leases", "timeout=1m"), "many")))
			},
		}},
	}
}

// atOnce makes two calls at once, both behind a lock.
func (s advised) atOnce(t *testing.T, table string, st *pglease.Store) error {
	t.Helper()
	more := make(chan error, 1)
	l := s.behind(t, table, func() error { return testkit.Err(st.List(t.Context(), "")) })
	go func() { more <- changes(t.Context(), st) }()
	err := l.end(t)
	second, _ := wait.Receive(t, "the result of the second call", more)
	return cmp.Or(err, second)
}

// standbys are faults of a server that has a standby, or is a standby.
func standbys(s advised) []advice.Fault {
	const readWrite = "target_session_attrs=read-write"
	readOnly := func(t *testing.T, role string) {
		s.make(t, role+".leases", role)
		execute(t, s.Server, "ALTER ROLE "+role+" SET default_transaction_read_only = on")
	}
	writable := func(t *testing.T, role string) {
		execute(t, s.Server, "ALTER ROLE "+role+" SET default_transaction_read_only = off")
	}
	var pool *pgxpool.Pool
	var to atomic.Int64 // the port that new connections of the pool go to
	direct := func(server *pgtest.Server) {
		to.Store(int64(server.Port()))
		pool.Reset()
	}
	var st *pglease.Store
	return []advice.Fault{
		{Name: "a standby", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, s.second.Address())) }, Ways: advice.Ways{
			"name the server that is the primary now": func(t *testing.T) error { return opens(t, s.Address()) },
			"or all of them: postgres://host,host2/…": func(t *testing.T) error { return opens(t, s.both()) },
		}},
		{Name: "a standby instead of a server to write", Meet: func(t *testing.T) string {
			return advice.Text(t, opens(t, storetest.With(s.second.Address(), readWrite)))
		}, Ways: advice.Ways{
			"read only connection: name the server that is the primary now": func(t *testing.T) error { return opens(t, storetest.With(s.Address(), readWrite)) },
			"or all of them: postgres://host,host2/…":                       func(t *testing.T) error { return opens(t, s.both(readWrite)) },
			"or set default_transaction_read_only to off there": func(t *testing.T) error {
				readOnly(t, "reader")
				addr := as(s.at("reader.leases", readWrite), "reader")
				same(t, opens(t, addr), "or set default_transaction_read_only to off there")
				writable(t, "reader")
				return opens(t, addr)
			},
		}},
		{Name: "a change of a standby", Meet: func(t *testing.T) string {
			storetest.Prepare(t, pglease.Open, s.at("moved.leases")).Close()
			pool = newPool(t, s.Address(), func(config *pgxpool.Config) {
				config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
					c.Port, c.Fallbacks = uint16(to.Load()), nil
					return nil
				}
				pglease.Configure(config)
			})
			direct(s.Server)
			var err error
			st, err = pglease.New(t.Context(), pool, pglease.Options{Table: "moved.leases"})
			testkit.OK(t, err)
			wait.Until(t, "the standby has the table", func() bool {
				return scan[int](t, s.second, "SELECT count(*) FROM pg_tables WHERE schemaname = 'moved'") == 1
			})
			direct(s.second)
			return advice.Text(t, testkit.Err(st.Put(t.Context(), "a", nil, driver.None)))
		}, Ways: advice.Ways{
			"name the server that is the primary now": func(t *testing.T) error {
				direct(s.Server)
				return changes(t.Context(), st)
			},
			"or, if it is, see why it takes no changes: default_transaction_read_only": func(t *testing.T) error {
				readOnly(t, "lazy")
				lazy := storetest.Open(t, pglease.Open, as(s.at("lazy.leases"), "lazy"))
				same(t, changes(t.Context(), lazy), "see why it takes no changes: default_transaction_read_only")
				writable(t, "lazy")
				return changes(t.Context(), lazy)
			},
		}},
		{Name: "a change that the standby may not have", Meet: func(t *testing.T) string {
			st = storetest.Prepare(t, pglease.Open, s.at("sync.leases", "timeout=1m"))
			set(t, s.Server, "synchronous_standby_names", "second")
			wait.Until(t, "the standby follows synchronously", func() bool {
				return scan[int](t, s, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1
			})
			s.second.Stop()
			done := make(chan error, 1)
			go func() { done <- testkit.Err(st.Put(t.Context(), "a", nil, driver.None)) }()
			const waits = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
			wait.Until(t, "the Put waits for the standby", func() bool { return scan[int](t, s, "SELECT count(*) "+waits) == 1 })
			execute(t, s.Server, "SELECT pg_cancel_backend(pid) "+waits)
			err, _ := wait.Receive(t, "the result of the Put", done)
			return advice.Text(t, err)
		}, Ways: advice.Ways{
			"see what the standbys do": func(t *testing.T) error {
				s.second.Continue()
				err := changes(t.Context(), st)
				set(t, s.Server, "synchronous_standby_names", "")
				return err
			},
		}},
	}
}

// findings are the findings of Inspect.
func findings(s advised) []advice.Fault {
	var st *pglease.Store
	var said string
	// says returns a finding and its advice.
	says := func(t *testing.T, fact string) string {
		t.Helper()
		wait.Until(t, "there is a finding: "+fact, func() bool {
			var err error
			said, err = storetest.Finding(t.Context(), st, fact)
			testkit.OK(t, err)
			return said != ""
		})
		return said
	}
	// gone is an error unless Inspect finds the fact no more.
	gone := func(t *testing.T, st *pglease.Store, fact string) error {
		return soon(func() error { return storetest.Mended(t.Context(), st, fact) })
	}
	off := func(setting string) advice.Fault {
		return advice.Fault{Name: setting, Meet: func(t *testing.T) string {
			st = storetest.Prepare(t, pglease.Open, s.at("set.leases"))
			set(t, s.Server, setting, "off")
			return says(t, setting+" is off")
		}, Ways: advice.Ways{"set " + setting + " to on": func(t *testing.T) error {
			set(t, s.Server, setting, "on")
			return gone(t, storetest.Open(t, pglease.Open, s.at("set.leases")), setting)
		}}}
	}
	return []advice.Fault{
		off("fsync"),
		off("full_page_writes"),
		{Name: "a table that is not logged", Meet: func(t *testing.T) string {
			st = storetest.Prepare(t, pglease.Open, s.at("unlogged.leases"))
			execute(t, s.Server, "ALTER TABLE unlogged.leases SET UNLOGGED")
			return says(t, "is not logged")
		}, Ways: advice.Ways{
			"ALTER TABLE \"unlogged\".\"leases\" SET LOGGED": func(t *testing.T) error {
				_, statement, _ := strings.Cut(said, "is empty: ")
				execute(t, s.Server, statement)
				return gone(t, st, "is not logged")
			},
		}},
		{Name: "asynchronous standbys", Meet: func(t *testing.T) string {
			st = storetest.Open(t, pglease.Open, s.Address())
			return says(t, "asynchronous standbys")
		}, Ways: advice.Ways{
			"set synchronous_standby_names to all standbys that may take over, with their number, as in FIRST 2 (a, b)": func(t *testing.T) error {
				set(t, s.Server, "synchronous_standby_names", "FIRST 1 (second)")
				defer set(t, s.Server, "synchronous_standby_names", "")
				wait.Until(t, "changes wait for all standbys", func() bool {
					return scan[bool](t, s, "SELECT bool_and(sync_state = 'sync') FROM pg_stat_replication")
				})
				return gone(t, storetest.Open(t, pglease.Open, s.Address()), "asynchronous standbys")
			},
		}},
		{Name: "a standby", Meet: func(t *testing.T) string {
			var to atomic.Int64 // where new connections go: New checks that the server is no standby
			to.Store(int64(s.Port()))
			pool := newPool(t, s.Address(), func(config *pgxpool.Config) {
				config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
					c.Port, c.Fallbacks = uint16(to.Load()), nil
					return nil
				}
				pglease.Configure(config)
			})
			var err error
			st, err = pglease.New(t.Context(), pool, pglease.Options{})
			testkit.OK(t, err)
			to.Store(int64(s.second.Port()))
			pool.Reset()
			return says(t, "the server is a standby")
		}, Ways: advice.Ways{
			"name the primary in the address": func(t *testing.T) error {
				return gone(t, storetest.Open(t, pglease.Open, s.Address()), "the server is a standby")
			},
		}},
		{Name: "read-only transactions", Meet: func(t *testing.T) string {
			s.make(t, "frozen.leases", "frozen")
			execute(t, s.Server, "ALTER ROLE frozen SET default_transaction_read_only = on")
			st = storetest.Open(t, pglease.Open, as(s.at("frozen.leases"), "frozen"))
			return says(t, "transactions are read-only")
		}, Ways: advice.Ways{
			"set it to off for this user and database": func(t *testing.T) error {
				execute(t, s.Server, "ALTER ROLE frozen IN DATABASE postgres SET default_transaction_read_only = off")
				return gone(t, storetest.Open(t, pglease.Open, as(s.at("frozen.leases"), "frozen")), "transactions are read-only")
			},
		}},
		{Name: "no table", Meet: func(t *testing.T) string {
			st = storetest.Open(t, pglease.Open, s.at("lost.leases"))
			return says(t, "there is no table lost.leases")
		}, Ways: advice.Ways{
			"see that the address is right": func(t *testing.T) error {
				return gone(t, storetest.Prepare(t, pglease.Open, s.at("right.leases")), "there is no table")
			},
			"or create it with firn pool create": func(t *testing.T) error {
				if err := creates(t, st); err != nil {
					return err
				}
				return gone(t, st, "there is no table")
			},
			"rescue each instead of creating it": func(t *testing.T) error {
				execute(t, s.Server, "DROP SCHEMA lost CASCADE")
				if err := rescues(t, st); err != nil {
					return err
				}
				return gone(t, st, "there is no table")
			},
		}},
		{Name: "no rights", Meet: func(t *testing.T) string {
			storetest.Prepare(t, pglease.Open, s.at("closed.leases")).Close()
			execute(t, s.Server, "CREATE ROLE stranger LOGIN")
			st = storetest.Open(t, pglease.Open, as(s.at("closed.leases"), "stranger"))
			return says(t, "this user may not read and change the table closed.leases")
		}, Ways: advice.Ways{
			"may not read and change the table closed.leases: GRANT": func(t *testing.T) error {
				_, grants, _ := strings.Cut(said, "closed.leases: ")
				grants, ok := strings.CutSuffix(grants, " to it")
				if !ok {
					return errors.New("the advice does not end")
				}
				for grant := range strings.SplitSeq(grants, " and ") {
					execute(t, s.Server, grant+" TO stranger")
				}
				if err := changes(t.Context(), st); err != nil {
					return err
				}
				return gone(t, st, "may not read")
			},
		}},
		{Name: "an old version", Meet: func(t *testing.T) string {
			st = storetest.Open(t, pglease.Open, seems(t, s.Address(), "14.19", "140019"))
			return says(t, "PostgreSQL 14.19 is old")
		}, Ways: advice.Ways{
			"upgrade the server": func(t *testing.T) error {
				return gone(t, storetest.Open(t, pglease.Open, s.Address()), " is old")
			},
		}},
		{Name: "no standby", Meet: func(t *testing.T) string {
			s.second.Crash()
			st = storetest.Open(t, pglease.Open, s.Address())
			set(t, s.Server, "synchronous_standby_names", "second")
			return says(t, "no standby is connected")
		}, Ways: advice.Ways{
			"start a standby": func(t *testing.T) error {
				testkit.OK(t, s.second.Start(t.Context()))
				return gone(t, st, "no standby is connected")
			},
			"or reset the setting": func(t *testing.T) error {
				s.second.Crash()
				says(t, "no standby is connected")
				execute(t, s.Server, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
				return gone(t, st, "no standby is connected")
			},
		}},
	}
}

// outages are faults of a server that is away.
func outages(s advised) []advice.Fault {
	// shutDown begins a shutdown, which waits for a client.
	shutDown := func(t *testing.T) (pid int, client *pgx.Conn, err error) {
		t.Helper()
		client = connect(t, s.Address())
		pid = scan[int](t, s, "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int")
		testkit.OK(t, syscall.Kill(pid, syscall.SIGTERM))
		wait.Until(t, "the server takes no connections", func() bool {
			err = opens(t, s.Address())
			return err != nil
		})
		return pid, client, err
	}
	start := func(t *testing.T, pid int, client *pgx.Conn) {
		t.Helper()
		client.Close(t.Context())
		wait.Until(t, "the server has ended", func() bool { return syscall.Kill(pid, 0) != nil })
		testkit.OK(t, s.Start(t.Context()))
	}
	var pid int
	var client *pgx.Conn
	return []advice.Fault{
		{Name: "a server that takes no connections", Meet: func(t *testing.T) string {
			var err error
			pid, client, err = shutDown(t)
			return advice.Text(t, err)
		}, Ways: advice.Ways{
			"wait until the server has started": func(t *testing.T) error {
				start(t, pid, client)
				return opens(t, s.Address())
			},
			"or see why it takes no connections": func(t *testing.T) error {
				pid, client, err := shutDown(t)
				same(t, err, "or see why it takes no connections")
				if !strings.Contains(s.Log(), "received smart shutdown request") {
					return errors.New(s.Log())
				}
				start(t, pid, client)
				return opens(t, s.Address())
			},
		}},
		{Name: "no server", Meet: func(t *testing.T) string {
			s.Crash()
			return advice.Text(t, opens(t, s.Address()))
		}, Ways: advice.Ways{
			"see that the server runs": func(t *testing.T) error {
				testkit.OK(t, s.Start(t.Context()))
				return opens(t, s.Address())
			},
			"and that the network lets through to it": func(t *testing.T) error {
				p := newProxy(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port())))
				p.set(func() { p.frozen = true })
				same(t, opens(t, storetest.With(p.address(s.Address()), "timeout=300ms")), "and that the network lets through to it")
				p.set(func() { p.frozen = false })
				return opens(t, p.address(s.Address()))
			},
		}},
	}
}
