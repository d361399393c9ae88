// Package resp tests the server's RESP with real clients.
package resp

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/resp"
	"github.com/firn-id/firn/server/internal/supply"
	"github.com/firn-id/firn/server/internal/supply/supplytest"
)

// serve starts a server with a generator for each format. With a token, the server needs the token.
func serve(t *testing.T, token string) (port string) {
	t.Helper()
	set := supplytest.New(t, supply.Config{Generators: supplytest.Formats(1)})
	var tokens access.Config
	if token != "" {
		tokens = access.Config{Path: filepath.Join(t.TempDir(), "tokens.toml"), Log: slog.New(slog.DiscardHandler)}
		testkit.OK(t, os.WriteFile(tokens.Path, fmt.Appendf(nil, "[tokens.test]\ntoken = %q\n", token), 0o600))
	}
	a, err := access.New(tokens)
	testkit.OK(t, err)
	s := resp.New(resp.Config{Set: set, Access: a, Version: "1.2.3"})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	t.Cleanup(func() {
		l.Close()
		ctx, cancel := context.WithTimeout(context.Background(), wait.Patience)
		defer cancel()
		if err := s.Drain(ctx); err != nil {
			t.Error(err)
		}
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.ServeConn(c, nil, func() {})
		}
	}()
	_, port, err = net.SplitHostPort(l.Addr().String())
	testkit.OK(t, err)
	return port
}

// each runs a test with a server for everybody, and with a server that needs a token.
func each(t *testing.T, test func(t *testing.T, port, token string)) {
	for name, token := range map[string]string{"open": "", "token": rand.Text()} {
		t.Run(name, func(t *testing.T) { test(t, serve(t, token), token) })
	}
}

func TestGoRedis(t *testing.T) {
	each(t, func(t *testing.T, port, token string) {
		for _, protocol := range []int{2, 3} {
			t.Run(strconv.Itoa(protocol), func(t *testing.T) {
				ctx := t.Context()
				c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, Password: token, Protocol: protocol, ClientName: "test"})
				defer c.Close()
				var mu sync.Mutex
				seen := map[uint64]bool{}
				see := func(id int64, err error) {
					t.Helper()
					mu.Lock()
					defer mu.Unlock()
					if err != nil || seen[uint64(id)] {
						t.Fatal(id, err)
					}
					seen[uint64(id)] = true
				}
				testkit.OK(t, c.Ping(ctx).Err())
				see(c.Incr(ctx, "nanoflake").Result())
				see(c.IncrBy(ctx, "nanoflake", 1).Result())
				var callers sync.WaitGroup
				for range 20 {
					callers.Go(func() {
						for range 20 {
							see(c.Incr(ctx, "nanoflake").Result())
						}
						pipeline := c.Pipeline()
						var ids []*redis.IntCmd
						for range 200 {
							ids = append(ids, pipeline.Incr(ctx, "nanoflake"))
						}
						if _, err := pipeline.Exec(ctx); err != nil {
							t.Error(err)
						}
						for _, id := range ids {
							see(id.Result())
						}
					})
				}
				callers.Wait()
				run, err := c.Do(ctx, "FIRN.RUN", "nanoflake", 100).Int64Slice()
				testkit.OK(t, err)
				for i := range run[1] {
					see(run[0]+i, nil)
				}
				texts, err := c.Do(ctx, "FIRN.NEXT", "sno", 3).StringSlice()
				if err != nil || len(texts) != 3 {
					t.Fatal(texts, err)
				}
				text, err := c.Do(ctx, "FIRN.NEXT", "scru160").Text()
				if err != nil || len(text) != 32 {
					t.Fatal(text, err)
				}
				object, err := c.Do(ctx, "FIRN.INSPECT", text, "scru160").Text()
				if err != nil || !strings.Contains(object, text) {
					t.Fatal(object, err)
				}
				if err := c.Do(ctx, "FIRN.LIST").Err(); err != nil {
					t.Error(err)
				}
				for _, v := range []struct {
					cmd  redis.Cmder
					want string
				}{
					{c.Incr(ctx, "sno"), "ERR form: "}, {c.Incr(ctx, "nobody"), "ERR unknown: "}, {c.IncrBy(ctx, "nanoflake", 2), "ERR count: "},
					{c.Get(ctx, "nanoflake"), "ERR path: "}, {c.Set(ctx, "nanoflake", 0, 0), "ERR path: "}, {c.Do(ctx, "FIRN.NEXT", "sno", 0), "ERR count: "},
				} {
					if err := v.cmd.Err(); err == nil || !strings.HasPrefix(err.Error(), v.want) {
						t.Errorf("%v, want %s", v.cmd, v.want)
					}
				}
				if info, err := c.Info(ctx).Result(); err != nil || !strings.Contains(info, "firn_version:1.2.3\r\n") {
					t.Error(info, err)
				}
				if name, err := c.ClientGetName(ctx).Result(); err != nil || name != "test" {
					t.Error(name, err)
				}
				if commands, err := c.Command(ctx).Result(); err != nil || commands["firn.next"] == nil || commands["incr"].FirstKeyPos != 1 {
					t.Error(commands, err)
				}
				if token == "" {
					return
				}
				for password, want := range map[string]string{"": "NOAUTH token: ", token + "x": "WRONGPASS wrong_token: "} {
					bad := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, Password: password, Protocol: protocol, MaxRetries: -1})
					defer bad.Close()
					if err := bad.Incr(ctx, "nanoflake").Err(); err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%v, want %s", err, want)
					}
				}
			})
		}
	})
}

// program runs a program, and returns what the program writes.
func program(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd, err, out, &stderr)
	}
	return string(out)
}

func command(t *testing.T, name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, name, args...)
}

func TestRedisPy(t *testing.T) {
	var python string
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import redis").Run() == nil {
			python = name
			break
		}
	}
	if python == "" {
		services.Missing(t, "python3 has no package redis; install redis-py, on Debian as python3-redis")
	}
	each(t, func(t *testing.T, port, token string) {
		program(t, command(t, python, "clients.py", port, token))
	})
}

// node-redis and ioredis read integers above 2^53 as other numbers. With RESP3 they get them right without a setting.
func TestJavaScript(t *testing.T) {
	services.Full(t) // npm needs the network
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			services.Missing(t, "%s is not in PATH; install Node.js 20 or later: %v", name, err)
		}
	}
	dir := t.TempDir()
	testkit.OK(t, os.CopyFS(dir, os.DirFS("javascript")))
	install := command(t, "npm", "ci", "--no-audit", "--no-fund")
	install.Dir = dir
	program(t, install)
	each(t, func(t *testing.T, port, token string) {
		cmd := command(t, "node", "clients.js", port)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TOKEN="+token)
		if out := program(t, cmd); strings.Count(out, "ok\n") != 5 {
			t.Error(out)
		}
	})
}
