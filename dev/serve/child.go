package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/valyala/fasthttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/firn-id/firn/server/firnv1"
)

// A child is a process of its own: a bare handler, or a client that makes load.
type child struct {
	address, load, path string
	bare, n             int
	length              time.Duration
	ids                 atomic.Int64
}

func runChild(args []string) error {
	var c child
	flags := flag.NewFlagSet("child", flag.ExitOnError)
	flags.StringVar(&c.address, "address", "", "where the server listens")
	flags.IntVar(&c.bare, "bare", 0, "serve a constant answer of this length")
	flags.StringVar(&c.load, "load", "", "the kind of load")
	flags.StringVar(&c.path, "path", "", "of HTTP")
	flags.IntVar(&c.n, "n", 1, "IDs of an answer")
	flags.DurationVar(&c.length, "for", time.Second, "how long")
	flags.Parse(args)
	if c.bare > 0 {
		return c.serveBare()
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.length)
	defer cancel()
	began := time.Now()
	var err error
	switch c.load {
	case "http":
		err = c.each(50, func() error { return c.http(ctx, c.path, "application/json") })
	case "packed":
		err = c.each(8, func() error {
			return c.http(ctx, fmt.Sprintf("/v1/generators/wide/ids?n=%d", c.n), "application/octet-stream")
		})
	case "stream":
		err = c.each(4, func() error { return c.stream(ctx) })
	case "run":
		err = c.each(8, func() error { return c.redis(ctx) })
	default:
		err = fmt.Errorf("unknown load %q", c.load)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result{float64(c.ids.Load()), time.Since(began).Seconds()})
}

// each runs a client on goroutines.
func (c *child) each(clients int, client func() error) error {
	errs := make([]error, clients)
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() { errs[i] = client() })
	}
	running.Wait()
	return errors.Join(errs...)
}

func (c *child) serveBare() error {
	body := bytes.Repeat([]byte("x"), c.bare)
	length := strconv.Itoa(c.bare)
	return http.ListenAndServe(c.address, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", length)
		w.Write(body)
	}))
}

func (c *child) http(ctx context.Context, path, accept string) error {
	client := fasthttp.HostClient{Addr: c.address, ReadBufferSize: 64 << 10}
	request, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	request.SetRequestURI("http://" + c.address + path)
	request.Header.Set("Accept", accept)
	for ctx.Err() == nil {
		if err := client.Do(request, answer); err != nil {
			return err
		}
		if answer.StatusCode() != http.StatusOK {
			return fmt.Errorf("%d: %s", answer.StatusCode(), answer.Body())
		}
		if accept == "application/octet-stream" && len(answer.Body()) != 8*c.n {
			return fmt.Errorf("%d bytes for %d IDs", len(answer.Body()), c.n)
		}
		c.ids.Add(int64(c.n))
	}
	return nil
}

func (c *child) stream(ctx context.Context) error {
	conn, err := grpc.NewClient(c.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	n := uint32(c.n)
	batches, err := firnv1.NewFirnClient(conn).Stream(ctx, &firnv1.StreamRequest{Name: "wide", Batch: &n})
	if err != nil {
		return err
	}
	for {
		b, err := batches.Recv()
		if ctx.Err() != nil || status.Code(err) == codes.DeadlineExceeded { // the server's clock may be first
			return nil
		}
		if err != nil {
			return err
		}
		c.ids.Add(int64(len(b.GetPacked()) / 8))
	}
}

func (c *child) redis(ctx context.Context) error {
	client := redis.NewClient(&redis.Options{Addr: c.address, PoolSize: 1, DisableIdentity: true, Protocol: 2})
	defer client.Close()
	const pipeline = 4
	for ctx.Err() == nil {
		answers, err := client.Pipelined(context.Background(), func(p redis.Pipeliner) error {
			for range pipeline {
				p.Do(context.Background(), "FIRN.RUN", "wide", c.n)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, a := range answers {
			run, err := a.(*redis.Cmd).Int64Slice()
			if err != nil || len(run) != 2 {
				return fmt.Errorf("%d: %w", run, err)
			}
			c.ids.Add(run[1])
		}
	}
	return nil
}
