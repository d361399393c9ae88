package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/internal/testing/place"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/undo"
)

func TestMain(m *testing.M) { os.Exit(undo.Main(m)) }

var places = place.New()

var keys = undo.New("keys", func(ctx context.Context, key string) error {
	client, err := redisClient()
	if err != nil {
		return err
	}
	defer client.Close()
	return client.Del(ctx, key).Err()
})

func redisClient() (*redis.Client, error) {
	options, err := redis.ParseURL(services.Redis.Address())
	if err != nil {
		return nil, err
	}
	options.DB = 1 // the databases of Redis need no place of their own
	return redis.NewClient(options), nil
}

var streams = undo.New("streams", func(ctx context.Context, name string) error {
	conn, err := nats.Connect(services.NATS.Address())
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	if err := js.DeleteStream(ctx, name); !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	return nil
})

// TestLeft makes one thing of each kind, and finds it, and finds nothing of the test afterwards.
func TestLeft(t *testing.T) {
	name := fmt.Sprintf("firn_left_%016x", rand.Uint64())
	found := func() (lines []string) {
		t.Helper()
		all, err := left(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(all) {
			t.Error("the lines are not in order")
		}
		for _, line := range all {
			if strings.Contains(line, name) {
				lines = append(lines, line)
			}
		}
		return lines
	}
	var want []string
	t.Run("plant", func(t *testing.T) {
		server := place.Server{Server: services.PostgreSQL, Driver: "pgx"}
		make := func(kind, options string) {
			places.Make(t, server, "CREATE "+kind+" "+name+options, "DROP "+kind+" IF EXISTS "+name)
		}
		make("DATABASE", "")
		make("ROLE", "")
		make("SCHEMA", "")
		make("TABLE", " (n int)")
		make("FUNCTION", "(n int) RETURNS int LANGUAGE sql AS 'SELECT 1'")
		server = place.Server{Server: services.MariaDB, Driver: "mysql"}
		make("DATABASE", "")
		make("TABLE", " (n int)")

		client, err := redisClient()
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if err := client.Ping(t.Context()).Err(); err != nil {
			services.Redis.Missing(t, err)
		}
		keys.AtEnd(t, name)
		if err := client.Set(t.Context(), name, 1, 0).Err(); err != nil {
			t.Fatal(err)
		}

		conn, err := nats.Connect(services.NATS.Address())
		if err != nil {
			services.NATS.Missing(t, err)
		}
		defer conn.Close()
		js, err := jetstream.New(conn)
		if err != nil {
			t.Fatal(err)
		}
		streams.AtEnd(t, name)
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Storage: jetstream.MemoryStorage}); err != nil {
			t.Fatal(err)
		}

		cmd := exec.Command("cat", "/dev/stdin", name)
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			cmd.Process.Kill()
			cmd.Wait()
		}()
		want = []string{
			"mariadb database " + name, "mariadb test table " + name,
			"nats stream " + name,
			"postgresql database " + name, "postgresql " + name + " schema public", "postgresql role " + name,
			"postgresql test function " + name + "(integer)", "postgresql test schema " + name, "postgresql test table " + name,
			fmt.Sprintf("process %d cat /dev/stdin %s", cmd.Process.Pid, name),
			fmt.Sprintf("redis 1 key %q", name),
		}
		if got := found(); !slices.Equal(got, want) {
			t.Errorf("found:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	if want == nil {
		t.Skip("the test above found no servers, and says which")
	}
	if got := found(); len(got) > 0 {
		t.Errorf("left:\n%s", strings.Join(got, "\n"))
	}
}
