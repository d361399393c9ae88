package resp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server/internal/supply"
)

// newSet returns a generator for each format by its name. The generator nanoflake serves the keys order:*, too.
func newSet(t testing.TB) *supply.Set {
	t.Helper()
	store := memlease.New()
	var all []supply.Generator
	for _, f := range inspect.Formats() {
		g := supply.Generator{Name: f.Name(), Format: f, Workers: 1, Store: "memory", Recipe: shape.Recipe{Leased: f.Worker() != ""},
			Open: func(context.Context) (driver.Store, error) { return store, nil }}
		if g.Name == "nanoflake" {
			g.Keys = []string{"order:*"}
		}
		all = append(all, g)
	}
	set, err := supply.New(supply.Config{Generators: all})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close(context.Background()) })
	return set
}

// listen serves a Server on a port of loopback, and returns the address.
func listen(t testing.TB, s *Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
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
	return l.Addr().String()
}

// frameOf returns a command as clients send it.
func frameOf(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

func TestFirst(t *testing.T) {
	addr := listen(t, New(Config{Set: newSet(t), Version: "0.1.0"}))
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, frameOf("PING")+strings.Repeat(frameOf("INCR", "order:1"), 3)+frameOf("FIRN.NEXT", "sno", "2")+
		frameOf("FIRN.NEXT", "snowflakesi", "2")+frameOf("FIRN.RAW", "scru160", "2")+frameOf("FIRN.RUN", "nanoflake", "20")+frameOf("INCR", "sno")+
		frameOf("INFO")+frameOf("FIRN.LIST")+frameOf("COMMAND", "DOCS", "PING")+frameOf("HELLO", "3")+frameOf("FIRN.INSPECT", "0549x5l2itvr4")+frameOf("QUIT"))
	all, err := io.ReadAll(bufio.NewReader(c))
	t.Logf("%q %v", all, err)
}
