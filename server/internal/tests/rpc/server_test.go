package rpc

import (
	"context"
	"net"
	"os"
	"testing"

	"google.golang.org/grpc"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server/internal/rpc"
	"github.com/firn-id/firn/server/internal/supply"
)

func TestMain(m *testing.M) {
	if os.Getenv(measured) != "" {
		serveMeasured()
		return
	}
	os.Exit(m.Run())
}

// serve starts a server with a generator for each format, by the format's name.
func serve(workers int) (address string, s *grpc.Server, set *supply.Set, err error) {
	store := memlease.New()
	var all []supply.Generator
	for _, f := range inspect.Formats() {
		all = append(all, supply.Generator{Name: f.Name(), Format: f, Workers: workers, Store: "memory",
			Recipe: shape.Recipe{Leased: f.Worker() != ""},
			Open:   func(context.Context) (driver.Store, error) { return store, nil }})
	}
	if set, err = supply.New(supply.Config{Generators: all}); err != nil {
		return "", nil, nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, nil, err
	}
	c := rpc.Config{Set: set}
	s = grpc.NewServer(rpc.Options(c)...)
	rpc.Register(s, c)
	go s.Serve(l)
	return l.Addr().String(), s, set, nil
}
