package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// resp measures INCR by redis-benchmark at firn and at Redis.
func (b *bench) resp(ctx context.Context) error {
	firn, err := b.serve(ctx)
	if err != nil {
		return err
	}
	defer firn.stop()
	redis, err := b.redis(ctx)
	if err != nil {
		return err
	}
	defer redis.stop()
	for _, p := range []struct {
		pipeline int
		perSec   int // about, on two cores
		rate     float64
		time     float64
	}{{1, 100_000, 0.85, 1.6}, {16, 900_000, 1, 0.9}, {64, 1_600_000, 1.5, 0.45}} {
		n := int(float64(p.perSec) * b.length.Seconds())
		run := func(s *server) func(context.Context) (figure, error) {
			return func(ctx context.Context) (figure, error) { return benchmark(ctx, s, p.pipeline, n) }
		}
		ours := &subject{name: fmt.Sprintf("firn, INCR, pipeline %d", p.pipeline), run: run(firn)}
		theirs := &subject{name: fmt.Sprintf("Redis, INCR, pipeline %d", p.pipeline), run: run(redis)}
		if err := b.turns(ctx, theirs, ours); err != nil {
			return err
		}
		b.bound(fmt.Sprintf("rate by Redis' rate, pipeline %d", p.pipeline), ours.by(theirs, rateOf), p.rate, false)
		b.bound(fmt.Sprintf("processor time by Redis', pipeline %d", p.pipeline), ours.by(theirs, serverOf), p.time, true)
	}
	return nil
}

// benchmark runs redis-benchmark: n times INCR by 50 clients.
func benchmark(ctx context.Context, s *server, pipeline, n int) (figure, error) {
	command := []string{"redis-benchmark", "-h", "127.0.0.1", "-p", s.port(), "-c", "50", "-n", strconv.Itoa(n), "-P", strconv.Itoa(pipeline), "--csv"}
	if pipeline > 1 { // one thread of redis-benchmark makes no more than either server answers
		command = append(command, "--threads", "2")
	}
	command = append(command, "INCR", "wide") // Redis is nearly as fast as one worker can be
	return s.load(ctx, command, func(output []byte, _ time.Duration) (float64, float64, error) {
		records, err := csv.NewReader(strings.NewReader(string(output))).ReadAll()
		if err != nil {
			return 0, 0, err
		}
		rate, err := strconv.ParseFloat(records[len(records)-1][1], 64)
		return float64(n), float64(n) / rate, err
	})
}

// http measures answers of HTTP beside a bare handler, which writes a constant answer of the same length.
func (b *bench) http(ctx context.Context) error {
	firn, err := b.serve(ctx)
	if err != nil {
		return err
	}
	defer firn.stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, p := range []struct {
		n     int
		bound float64
	}{{1, 0.75}, {100, 0.7}} {
		path := fmt.Sprintf("/v1/generators/wide/ids?n=%d", p.n) // one worker makes fewer IDs than there are texts
		answer, err := get(ctx, "http://"+firn.address+path)
		if err != nil {
			return err
		}
		bare, err := start(ctx, func(address string) []string {
			return []string{self, "child", "-bare", strconv.Itoa(len(answer)), "-address", address}
		})
		if err != nil {
			return err
		}
		run := func(s *server) func(context.Context) (figure, error) {
			return func(ctx context.Context) (figure, error) {
				return b.child(ctx, s, "-load", "http", "-path", path, "-n", strconv.Itoa(p.n))
			}
		}
		ours := &subject{name: fmt.Sprintf("firn, HTTP, n=%d", p.n), run: run(firn)}
		theirs := &subject{name: fmt.Sprintf("bare handler, %d bytes", len(answer)), run: run(bare)}
		err = b.turns(ctx, theirs, ours)
		bare.stop()
		if err != nil {
			return err
		}
		b.bound(fmt.Sprintf("rate by the bare handler's rate, n=%d", p.n), ours.by(theirs, rateOf), p.bound, false)
	}
	return nil
}

func get(ctx context.Context, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, body)
	}
	return body, err
}

// bulk measures many IDs at a time, of a generator with 16 workers.
func (b *bench) bulk(ctx context.Context) error {
	firn, err := b.serve(ctx)
	if err != nil {
		return err
	}
	defer firn.stop()
	const million = 1e6
	for _, p := range []struct {
		name, load string
		n          int
		bound      float64
	}{
		{"HTTP, packed", "packed", 16384, 45},
		{"gRPC, a stream", "stream", 16384, 45},
		{"RESP, FIRN.RUN", "run", 4096, 60},
	} {
		s := &subject{name: p.name, run: func(ctx context.Context) (figure, error) {
			return b.child(ctx, firn, "-load", p.load, "-n", strconv.Itoa(p.n))
		}}
		if err := b.turns(ctx, s); err != nil {
			return err
		}
		b.bound(p.name+", millions of IDs a second", s.median(rateOf)/million, p.bound, false)
	}
	return nil
}

// memory measures the memory of firn serve with connections.
func (b *bench) memory(ctx context.Context) error {
	firn, err := b.serve(ctx)
	if err != nil {
		return err
	}
	defer firn.stop()
	if _, err := get(ctx, "http://"+firn.address+"/v1/generators/nanoflake/ids"); err != nil {
		return err
	}
	began, err := firn.look(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%-52s %8.1f MiB\n", "without connections", began.memory)
	loaded := make(chan error, 1)
	go func() {
		_, err := firn.load(ctx, []string{"redis-benchmark", "-h", "127.0.0.1", "-p", firn.port(), "-c", "1000", "-n", "3000000", "-P", "16", "--csv", "INCR", "nanoflake"},
			func([]byte, time.Duration) (float64, float64, error) { return 1, 1, nil })
		loaded <- err
	}()
	var most float64
	for done := false; !done; {
		select {
		case err := <-loaded:
			if err != nil {
				return err
			}
			done = true
		case <-time.After(50 * time.Millisecond):
			kilobytes, err := firn.status("VmRSS")
			if err != nil {
				return err
			}
			most = max(most, float64(kilobytes)/1024)
		}
	}
	b.bound("MiB with 1000 loaded connections", most, 50, true)
	idle, err := firn.idle(ctx, "*1\r\n$4\r\nPING\r\n")
	if err != nil {
		return err
	}
	b.bound("MiB with 10 000 idle connections", idle, 85, true)
	// net/http keeps two buffers and a goroutine for each connection.
	if idle, err = firn.idle(ctx, "GET /v1/generators/nanoflake/ids HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return err
	}
	fmt.Printf("%-52s %8.1f MiB\n", "with 10 000 idle connections of HTTP", idle)
	var after state
	for range 100 { // the server notices the ends
		if after, err = firn.look(ctx); err != nil {
			return err
		}
		if after.goroutines <= began.goroutines && after.descriptors <= began.descriptors {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.bound(fmt.Sprintf("goroutines after all, %d before", began.goroutines), float64(after.goroutines), float64(began.goroutines), true)
	b.bound(fmt.Sprintf("descriptors after all, %d before", began.descriptors), float64(after.descriptors), float64(began.descriptors), true)
	return nil
}

// A state is what a server holds.
type state struct {
	memory                  float64 // in MiB
	goroutines, descriptors int
}

func (s *server) look(ctx context.Context) (now state, err error) {
	kilobytes, err := s.status("VmRSS")
	if err != nil {
		return now, err
	}
	now.memory = float64(kilobytes) / 1024
	text, err := get(ctx, "http://"+s.address+"/metrics")
	if err != nil {
		return now, err
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "go_goroutines "); ok {
			now.goroutines, err = strconv.Atoi(strings.TrimSpace(n))
		}
	}
	if err != nil || now.goroutines == 0 {
		return now, errors.Join(err, errors.New("/metrics has no go_goroutines"))
	}
	now.descriptors, err = s.descriptors()
	return now, err
}

// idle opens 10 000 connections with a request on each, and returns the memory of the server with them, in MiB.
func (s *server) idle(ctx context.Context, request string) (float64, error) {
	var d net.Dialer
	answer := make([]byte, 4096)
	for i := range 10_000 {
		c, err := d.DialContext(ctx, "tcp", s.address)
		if err != nil {
			return 0, fmt.Errorf("connection %d: %w", i, err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, request); err != nil {
			return 0, err
		}
		if _, err := c.Read(answer); err != nil {
			return 0, err
		}
	}
	kilobytes, err := s.status("VmRSS")
	return float64(kilobytes) / 1024, err
}
