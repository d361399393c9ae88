//go:build unix

package serving

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/server/firnv1"
)

// duration is how long TestChaos lasts:
//
//	go test ./cmd/firn/internal/tests/serving -run TestChaos -v -timeout 20m -chaos 10m
var duration = flag.Duration("chaos", 0, "how long TestChaos lasts (default 10 s, in the full check 30 s)")

// window is the window of the servers' leases.
const window = 10 * time.Second

// Two servers lease workers of one pool. They are killed, stopped for seconds, and ended, at random. Clients of three
// protocols turn to the other server after each failure. No ID comes twice, and no client is without IDs for longer than
// a window and a second.
func TestChaos(t *testing.T) {
	if *duration == 0 {
		*duration = 10 * time.Second
		if services.InFull() {
			*duration = 30 * time.Second
		}
	}
	dir := t.TempDir()
	var servers []*node
	for i := range 2 {
		servers = append(servers, startNode(t, dir, i))
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	ctx, cancel := context.WithTimeout(t.Context(), *duration)
	defer cancel()
	var clients []*client
	var running sync.WaitGroup
	for _, kind := range []func(addresses []string) []taker{overRESP, overRESPNext, overHTTP, overGRPC} {
		for n := range 2 {
			c := &client{takers: kind([]string{servers[0].Host(), servers[1].Host()}), at: n}
			clients = append(clients, c)
			running.Go(func() { c.run(ctx) })
		}
	}
	var faults atomic.Int64
	for i, s := range servers {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		running.Go(func() {
			for pause(ctx, time.Duration(500+random.IntN(3000))*time.Millisecond) {
				if err := s.fault(ctx, random); err != nil {
					t.Error(err)
					return
				}
				faults.Add(1)
			}
		})
	}
	running.Wait()
	var all []uint64
	var longest time.Duration
	for i, c := range clients {
		t.Logf("%s: %d IDs, %d failures, the longest gap %v", c.takers[0].name, len(c.ids), c.failures, c.gap.Round(time.Millisecond))
		if len(c.ids) == 0 || c.failures == 0 && *duration > time.Minute {
			t.Errorf("client %d has %d IDs and %d failures", i, len(c.ids), c.failures)
		}
		all = append(all, c.ids...)
		longest = max(longest, c.gap)
	}
	if n := duplicates(all); n > 0 {
		t.Errorf("%d duplicates", n)
	}
	if longest > window+time.Second {
		t.Errorf("a client had no ID for %v", longest)
	}
	t.Logf("%d IDs, %d faults, the longest gap %v", len(all), faults.Load(), longest.Round(time.Millisecond))
	if t.Failed() {
		for _, s := range servers {
			t.Logf("%s", process.Tail(s.Log, 4096))
		}
	}
}

// duplicates sorts IDs, and counts those that come again.
func duplicates(ids []uint64) (n int) {
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			n++
		}
	}
	return n
}

// A node is a process of firn serve.
type node struct {
	process.Node
	port int
}

func (n *node) Host() string { return fmt.Sprintf("127.0.0.1:%d", n.port) }

func startNode(t *testing.T, dir string, i int) *node {
	n := &node{port: freePort(t)}
	n.Name, n.Log = fmt.Sprintf("server %d", i), filepath.Join(dir, fmt.Sprintf("log%d", i))
	n.Command = []string{program, "serve", "--listen", n.Host(), "--state", filepath.Join(dir, "pools")}
	n.Env = environment()
	testkit.OK(t, n.Start())
	t.Cleanup(n.Kill)
	return n
}

// fault kills, stops or ends the server, and starts the server again.
func (n *node) fault(ctx context.Context, random *rand.Rand) error {
	switch random.IntN(3) {
	case 0:
		n.Kill()
	case 1:
		if err := n.Freeze(); err != nil {
			return err
		}
		pause(ctx, time.Duration(random.IntN(5000))*time.Millisecond)
		return n.Thaw()
	case 2:
		if err := syscall.Kill(n.Pid(), syscall.SIGTERM); err != nil {
			return err
		}
		for n.Pid() != 0 {
			time.Sleep(5 * time.Millisecond)
		}
	}
	return n.Start()
}

// pause reports whether ctx goes on after a time.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// A taker takes IDs of one server, by one protocol.
type taker struct {
	name string
	take func(context.Context) ([]uint64, error)
}

// A client takes IDs of any server that answers.
type client struct {
	takers   []taker // of the same protocol, for each server
	at       int
	ids      []uint64
	failures int
	gap      time.Duration // the longest time between two answers
}

func (c *client) run(ctx context.Context) {
	last := time.Now()
	for ctx.Err() == nil {
		call, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		ids, err := c.takers[c.at%len(c.takers)].take(call)
		cancel()
		c.gap = max(c.gap, time.Since(last))
		if err != nil {
			c.failures++
			c.at++
			pause(ctx, 10*time.Millisecond)
			continue
		}
		last = time.Now()
		c.ids = append(c.ids, ids...)
		pause(ctx, 10*time.Millisecond)
	}
}

// batch is how many IDs a client takes at a time.
const batch = 50

func unpacked(ids []byte) (all []uint64, err error) {
	for ; len(ids) >= 8; ids = ids[8:] {
		all = append(all, binary.BigEndian.Uint64(ids))
	}
	if len(all) != batch || len(ids) != 0 {
		return nil, fmt.Errorf("%d IDs and %d bytes", len(all), len(ids))
	}
	return all, nil
}

func redisClient(address string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1, DialTimeout: 500 * time.Millisecond, ContextTimeoutEnabled: true})
}

func overRESP(addresses []string) (all []taker) {
	for _, a := range addresses {
		c := redisClient(a)
		all = append(all, taker{"INCR", func(ctx context.Context) ([]uint64, error) {
			var ids []uint64
			answers, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
				for range batch {
					p.Incr(ctx, "nanoflake")
				}
				return nil
			})
			if err != nil {
				return nil, err // some of the IDs may be lost
			}
			for _, a := range answers {
				ids = append(ids, uint64(a.(*redis.IntCmd).Val()))
			}
			return ids, nil
		}})
	}
	return all
}

func overRESPNext(addresses []string) (all []taker) {
	for _, a := range addresses {
		c := redisClient(a)
		all = append(all, taker{"FIRN.NEXT", func(ctx context.Context) ([]uint64, error) {
			texts, err := c.Do(ctx, "FIRN.NEXT", "nanoflake", batch).StringSlice()
			if err != nil {
				return nil, err
			}
			var ids []uint64
			for _, text := range texts {
				id, err := nanoflake.Parse(text)
				if err != nil {
					return nil, err
				}
				ids = append(ids, uint64(id))
			}
			return ids, nil
		}})
	}
	return all
}

func overHTTP(addresses []string) (all []taker) {
	for _, a := range addresses {
		all = append(all, taker{"HTTP", func(ctx context.Context) ([]uint64, error) {
			r, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("http://%s/v1/generators/nanoflake/ids?n=%d", a, batch), nil)
			if err != nil {
				return nil, err
			}
			r.Header.Set("Accept", "application/octet-stream")
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				return nil, err
			}
			defer answer.Body.Close()
			ids, err := io.ReadAll(answer.Body)
			if err == nil && answer.StatusCode != http.StatusOK {
				err = errors.New(answer.Status)
			}
			if err != nil {
				return nil, err
			}
			return unpacked(ids)
		}})
	}
	return all
}

func overGRPC(addresses []string) (all []taker) {
	for _, a := range addresses {
		conn, err := grpc.NewClient(a, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			panic(err)
		}
		c := firnv1.NewFirnClient(conn)
		all = append(all, taker{"gRPC", func(ctx context.Context) ([]uint64, error) {
			n := uint32(batch)
			answer, err := c.Take(ctx, &firnv1.TakeRequest{Name: "nanoflake", Count: &n})
			if err != nil {
				return nil, err
			}
			return unpacked(answer.GetPacked())
		}})
	}
	return all
}

func freePort(t *testing.T) int {
	t.Helper()
	ln := listen(t)
	defer ln.Close()
	return portOf(ln)
}

func environment() []string { return append(os.Environ(), asFirn+"=1") }
