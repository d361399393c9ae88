package redislease_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/internal/testing/advice"
	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/sources"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/redislease"
)

// unfollowed is advice that no fault of the tables meets, each with the reason.
var unfollowed = map[string]string{
	"use the version of this program that the other users of the prefix have": "there is no later version of the keys yet",
}

func TestAdvice(t *testing.T) {
	plain := start(t)
	advice.Check(t, advice.Test{
		Tables: [][]advice.Fault{addresses(t, plain), answers(t, plain), logins(t, plain), replicas(t), secured(t, plain), contents(t, plain), clusters(t, plain), inspected(t, plain)},
		Texts:  sources.Texts(t, filepath.Join("..", "..", "..", "redislease")), Least: 40, Unfollowed: unfollowed,
	})
}

// moving is the end of an advice to move.
const moving = "stop all processes that use this one, and rescue its pools there before any of them is started again (lease.Rescue there, with Layouts and Create)"

// opens opens a store, which reads, and closes the store.
func opens(t *testing.T, addr string) error {
	t.Helper()
	s, err := redislease.Open(t.Context(), storetest.Patient(addr))
	if err == nil {
		s.Close()
	}
	return err
}

// works takes a lease in a store that has or gets the pool.
func works(t *testing.T, addr string) error {
	t.Helper()
	s, err := redislease.Open(t.Context(), storetest.Patient(addr))
	if err != nil {
		return err
	}
	defer s.Close()
	if err := minter.Create(t.Context(), s); err != nil && !errors.Is(err, lease.ErrPoolExists) {
		return err
	}
	_, err = storetest.Program(t.Context(), s)
	return err
}

// opening is a fault of an address. ways are parts of the advice, each with the mended address.
func opening(addr string, ways ...string) advice.Fault { return advice.Changed(opens, addr, ways...) }

// does sends a command to a server.
func does(t *testing.T, host string, args ...any) error {
	t.Helper()
	return client(t, host).Do(t.Context(), args...).Err()
}

// sets sends CONFIG SET to a server.
func sets(t *testing.T, host string, settings ...any) error {
	t.Helper()
	return does(t, host, append([]any{"CONFIG", "SET"}, settings...)...)
}

// rescues rescues the pool in a store, and takes a lease. The settings say that no lease was taken before.
func rescues(t *testing.T, s driver.Store, c lease.RescueConfig) error {
	t.Helper()
	c.Window, c.Skew = time.Millisecond, time.Millisecond
	if _, err := lease.Rescue(t.Context(), s, minter.Pool, c); err != nil {
		return err
	}
	var err error
	wait.For(func() bool {
		_, err = storetest.Program(t.Context(), s)
		return !errors.Is(err, lease.ErrNoWorker) // before the end of the rescue's wait
	})
	return err
}

// layouts are those of the pool.
func layouts(t *testing.T) []grant.Layout {
	t.Helper()
	spec, err := new(minter.Generator).Pool()
	testkit.OK(t, err)
	return []grant.Layout{spec.Layout}
}

// movesTo rescues the pool in another place, which has no pool.
func movesTo(t *testing.T, s driver.Store) error {
	t.Helper()
	return rescues(t, s, lease.RescueConfig{Layouts: layouts(t), Create: true})
}

// movesToPrefix moves the pool to another prefix on the server.
func movesToPrefix(t *testing.T, host string) error {
	t.Helper()
	return movesTo(t, storetest.Open(t, redislease.Open, "redis://"+host+"/0?prefix="+fmt.Sprint("moved-", time.Now().UnixNano())))
}

// movesAway moves the pool to a store of another kind.
func movesAway(t *testing.T) error {
	t.Helper()
	s, err := filelease.Open(t.TempDir())
	if err != nil {
		return err
	}
	defer s.Close()
	return movesTo(t, s)
}

// wanted is the advice on each invalid address.
const wanted = "want redis://user@host:6379/0?prefix=…&password-file=…"

// addresses are faults of an address.
func addresses(t *testing.T, plain server) []advice.Fault {
	locked := start(t, "--requirepass", storetest.Secret)
	file := storetest.File(t, storetest.Secret+"\n")
	t.Setenv("REDIS_PASSWORD_OF_TEST", storetest.Secret)
	at := func(s server) string { return "redis://" + s.Host() + "/0" }
	full := "redis://default@" + locked.Host() + "/0?prefix=a&password-file=" + file
	letters := "prefix=" + strings.Repeat("aZ09._-:/", 11) + "x"
	named := "redis://default@" + locked.Host() + "/0"
	return []advice.Fault{
		opening("redis://"+plain.Host()+"/x", wanted, full),
		opening("redis://default@"+locked.Host()+"/0", wanted, full),
		opening(at(plain)+"?prefix=a{b}", "want up to 100 letters (a to z, A to Z), digits, '.', '_', '-', ':' and '/'", at(plain)+"?"+letters, wanted, full),
		opening(at(locked), "give user and password (password-file", named+"?password-file="+file, "password-env)", named+"?password-env=REDIS_PASSWORD_OF_TEST"),
		opening(at(locked)+"?password=wrong", "see that user and password are right (password-file", named+"?password-file="+file, "password-env)", named+"?password-env=REDIS_PASSWORD_OF_TEST"),
		opening("redis://"+plain.Host()+"/99", "see that the number of the database, the path of the address, is one that the server has", "redis://"+plain.Host()+"/9"),
		opening(at(plain)+"?cluster=true", "take cluster=true out of the address", at(plain)),
		// No resolver asks for a name with such a part.
		opening("redis://"+strings.Repeat("x", 64)+".invalid:"+fmt.Sprint(plain.Port), "see that the name of the host is right", "redis://localhost:"+fmt.Sprint(plain.Port)),
	}
}

// replied is an error that a server has answered.
type replied string

func (r replied) Error() string { return string(r) }
func (replied) RedisError()     {}

// answering returns the address of a server that gives one answer to all requests.
func answering(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for b := make([]byte, 4<<10); err == nil; {
					if _, err = conn.Read(b); err == nil {
						_, err = io.WriteString(conn, answer)
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// answers are faults of one server.
func answers(t *testing.T, plain server) []advice.Fault {
	srv := start(t)
	addr := "redis://" + srv.Host() + "/0"
	opensIt := func(t *testing.T) error { return opens(t, addr) }
	raw := client(t, srv.Host())
	stopped, silent := start(t), storetest.Silent(t)

	dir := filepath.Join(t.TempDir(), "data")
	testkit.OK(t, os.Mkdir(dir, 0o700))
	disk := start(t, "--dir", dir, "--save", "3600 1")
	failed := func(t *testing.T) *redislease.Store {
		s := storetest.Prepare(t, redislease.Open, disk.address())
		testkit.OK(t, os.RemoveAll(filepath.Join(dir, "dump.rdb")))
		testkit.OK(t, os.MkdirAll(filepath.Join(dir, "dump.rdb", "full"), 0o700)) // no snapshot gets the name
		saves(t, disk, "err")
		return s
	}
	frees := func(t *testing.T) error {
		if err := os.RemoveAll(filepath.Join(dir, "dump.rdb")); err != nil {
			return err
		}
		saves(t, disk, "ok")
		return works(t, disk.address())
	}
	seesLog := func(*testing.T) error {
		if !strings.Contains(disk.Log.String(), "directory") {
			return errors.New("the log does not say why")
		}
		return nil
	}

	// A client takes the only place. The connections of the test that are open stay open.
	var first *redis.Conn
	crowd := func(t *testing.T) string {
		first = client(t, srv.Host()).Conn()
		testkit.OK(t, first.ConfigSet(t.Context(), "maxclients", "1").Err())
		return advice.Text(t, opens(t, addr))
	}

	blocks := func(t *testing.T, script ...any) string {
		testkit.OK(t, sets(t, srv.Host(), "lua-time-limit", "1"))
		endless := redis.NewClient(&redis.Options{Addr: srv.Host(), ReadTimeout: -1, MaxRetries: -1})
		t.Cleanup(func() { endless.Close() })
		go endless.Do(context.WithoutCancel(t.Context()), script...)
		var text string
		wait.Until(t, "the script blocks the server", func() bool {
			err := opens(t, addr)
			text = fmt.Sprint(err)
			return err != nil
		})
		return text
	}
	ends := func(kind string) func(t *testing.T) error {
		return func(t *testing.T) error {
			if err := does(t, srv.Host(), kind, "KILL"); err != nil {
				return err
			}
			var err error
			wait.For(func() bool { err = opens(t, addr); return err == nil }) // the server ends it a little later
			return err
		}
	}

	small := start(t)
	prefixes := 0
	prepares := func(t *testing.T) error {
		prefixes++
		s, err := redislease.Open(t.Context(), small.address(fmt.Sprint("prefix=p", prefixes)))
		if err != nil {
			return err
		}
		defer s.Close()
		return s.Prepare(t.Context())
	}

	loading := start(t)
	load := client(t, loading.Host())
	for i := range 500 {
		testkit.OK(t, load.Set(t.Context(), fmt.Sprint("key", i), strings.Repeat("x", 2000), 0).Err())
	}

	aof := client(t, srv.Host())
	answer := &hook{name: "waitaof"}
	aof.AddHook(answer)
	// asks is a store that waits for the log of a server, with answers as of Redis 7.2.
	asks := func(t *testing.T) error {
		answer.answer = []any{int64(1), int64(0)}
		if raw.ConfigGet(t.Context(), "appendonly").Val()["appendonly"] == "no" {
			answer.answer = replied("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.")
		}
		_, err := redislease.New(t.Context(), aof, redislease.Options{WaitAOF: true})
		return err
	}
	lacks := start(t)
	if does(t, lacks.Host(), "WAITAOF", 0, 0, 1) == nil { // Redis 7.2 has the command
		lacks = start(t, "--rename-command", "WAITAOF", "")
	}
	hidden := start(t, "--rename-command", "EVALSHA", "")

	return []advice.Fault{
		{Name: "a server that is down", Meet: func(t *testing.T) string {
			stopped.Kill()
			return advice.Text(t, opens(t, stopped.address()))
		}, Ways: advice.Ways{"see that the server runs": func(t *testing.T) error {
			stopped.Run()
			return opens(t, stopped.address())
		}, "and that the network lets through to it": func(t *testing.T) error { return opens(t, addr) }}},
		{Name: "no answer", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, "redis://"+silent+"/0?timeout=300ms")) }, Ways: advice.Ways{
			"see that the server runs, and that the network lets through to it": opensIt,
		}},
		{Name: "another refusal", Meet: func(t *testing.T) string {
			return advice.Text(t, opens(t, "redis://"+answering(t, "-ERR no upstream host\r\n")+"/0"))
		}, Ways: advice.Ways{"see its log": opensIt}},
		{Name: "a server that reads its data", Meet: func(t *testing.T) string {
			testkit.OK(t, does(t, loading.Host(), "SAVE"))
			loading.Kill()
			loading.Command = append(loading.Command, "--key-load-delay", "20000", "--loading-process-events-interval-bytes", "1024", "--rdbcompression", "no")
			loading.Run()
			return advice.Text(t, opens(t, loading.address()))
		}, Ways: advice.Ways{"wait until the server has read its data from disk": func(t *testing.T) error {
			testkit.OK(t, sets(t, loading.Host(), "key-load-delay", "0"))
			wait.Until(t, "the server has read its data", func() bool {
				return strings.Contains(client(t, loading.Host()).Info(t.Context(), "persistence").Val(), "\nloading:0")
			})
			return opens(t, loading.address())
		}}},
		{Name: "a full server", Meet: func(t *testing.T) string {
			testkit.OK(t, sets(t, small.Host(), "maxmemory", "1"))
			return advice.Text(t, prepares(t))
		}, Ways: advice.Ways{"raise maxmemory": func(t *testing.T) error {
			testkit.OK(t, sets(t, small.Host(), "maxmemory", "1gb"))
			return prepares(t)
		}, "or free some of it": func(t *testing.T) error {
			c := client(t, small.Host())
			testkit.OK(t, c.Set(t.Context(), "large", strings.Repeat("x", 16<<20), 0).Err())
			testkit.OK(t, sets(t, small.Host(), "maxmemory", fmt.Sprint(used(t, c)-1<<20)))
			if err := prepares(t); !strings.Contains(fmt.Sprint(err), "OOM") {
				t.Errorf("a large value: %v", err)
			}
			testkit.OK(t, c.Del(t.Context(), "large").Err())
			return prepares(t)
		}}},
		{Name: "no disk", Meet: func(t *testing.T) string {
			_, err := failed(t).Get(t.Context(), "a")
			return advice.Text(t, err)
		}, Ways: advice.Ways{"free some space there, and run BGSAVE": frees, "see its log": seesLog}},
		{Name: "no disk, which Inspect sees", Meet: func(t *testing.T) string { return storetest.Found(t, failed(t), "write its disk failed") }, Ways: advice.Ways{
			"free some space there, and run BGSAVE": func(t *testing.T) error {
				return errors.Join(frees(t), storetest.Mended(t.Context(), storetest.Open(t, redislease.Open, disk.address()), "write its disk failed"))
			}, "see its log": seesLog}},
		{Name: "many clients", Meet: crowd, Ways: advice.Ways{
			"see that the server runs": func(t *testing.T) error { return first.Ping(t.Context()).Err() },
			"has room for more clients (maxclients)": func(t *testing.T) error {
				return errors.Join(first.ConfigSet(t.Context(), "maxclients", "100").Err(), opens(t, addr))
			},
		}},
		{Name: "a script", Meet: func(t *testing.T) string { return blocks(t, "EVAL", "while true do end", 0) }, Ways: advice.Ways{"end it by SCRIPT KILL": ends("SCRIPT")}},
		{Name: "a function", Meet: func(t *testing.T) string {
			err := does(t, srv.Host(), "FUNCTION", "LOAD", "#!lua name=endless\nredis.register_function('endless', function() while true do end end)")
			if err != nil {
				t.Skip("the server has no functions: ", err)
			}
			return blocks(t, "FCALL", "endless", 0)
		}, Ways: advice.Ways{"end it by SCRIPT KILL or FUNCTION KILL": ends("FUNCTION")}},
		{Name: "no WAITAOF", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, lacks.address("wait-aof=true"))) }, Ways: advice.Ways{
			"allow it there (rename-command), or leave out wait-aof": func(t *testing.T) error { return opens(t, lacks.address()) },
		}},
		{Name: "no EVALSHA", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, hidden.address())) }, Ways: advice.Ways{
			"allow it there (rename-command)": func(t *testing.T) error {
				hidden.Command = hidden.Command[:len(hidden.Command)-3]
				restarts(t, hidden)
				return opens(t, hidden.address())
			},
			"or leave out wait-aof": func(*testing.T) error { return nil }, // followed above
		}},
		{Name: "no log for wait-aof", Meet: func(t *testing.T) string { return advice.Text(t, asks(t)) }, Ways: advice.Ways{
			"set appendonly to yes and appendfsync to always by CONFIG SET": func(t *testing.T) error {
				testkit.OK(t, sets(t, srv.Host(), "appendonly", "yes", "appendfsync", "always"))
				return asks(t)
			}, "or leave out wait-aof": opensIt}},
		{Name: "an old server", Meet: func(t *testing.T) string { return advice.Text(t, opens(t, aged(t, plain))) }, Ways: advice.Ways{
			"use Redis 5 or later": func(t *testing.T) error { return opens(t, plain.address()) },
		}},
	}
}

// restarts ends a server, and starts the server again. The server then has read its data.
func restarts(t *testing.T, s server) {
	t.Helper()
	s.Kill()
	s.Run()
	wait.Until(t, "the server has read its data", func() bool { return client(t, s.Host()).DBSize(t.Context()).Err() == nil })
}

// saves has a server write a snapshot, and waits for the status.
func saves(t *testing.T, s server, status string) {
	t.Helper()
	c := client(t, s.Host())
	testkit.OK(t, c.BgSave(t.Context()).Err())
	wait.Until(t, "the snapshot is "+status, func() bool {
		return strings.Contains(c.Info(t.Context(), "persistence").Val(), "rdb_last_bgsave_status:"+status)
	})
}

// used returns how many bytes a server uses.
func used(t *testing.T, c *redis.Client) (n int) {
	t.Helper()
	_, text, _ := strings.Cut(c.Info(t.Context(), "memory").Val(), "used_memory:")
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
