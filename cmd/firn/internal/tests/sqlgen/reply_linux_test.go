package sqlgen_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/cmd/firn/internal/sqlgen"
	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/nanoflake"
)

// A cutter forwards connections to a server. The cutter passes the first message with a text on, and
// then cuts all connections, before the reply. While shut, a cutter refuses connections.
type cutter struct {
	listener net.Listener
	to       string
	text     []byte
	cut      chan struct{} // closed when the message was passed on

	mu    sync.Mutex
	shut  bool
	done  bool
	conns []net.Conn
}

func newCutter(t *testing.T, to, text string) *cutter {
	t.Helper()
	c := &cutter{to: to, text: []byte(text), cut: make(chan struct{})}
	var err error
	c.listener, err = loopback.Proxy(to, c.serve)
	testkit.OK(t, err)
	t.Cleanup(func() { c.listener.Close(); c.end() })
	return c
}

func (c *cutter) serve(client, server net.Conn) {
	c.mu.Lock()
	if c.shut {
		c.mu.Unlock()
		return
	}
	c.conns = append(c.conns, client, server)
	c.mu.Unlock()
	go func() {
		io.Copy(client, server)
		client.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		c.mu.Lock()
		first := !c.done && bytes.Contains(buffer[:n], c.text)
		c.done, c.shut = c.done || first, c.shut || first
		c.mu.Unlock()
		if first {
			client.Close() // the reply has nowhere to go; the server still has the message
			server.Write(buffer[:n])
			close(c.cut)
			io.Copy(io.Discard, server)
			return
		}
		if _, bad := server.Write(buffer[:n]); err != nil || bad != nil {
			return
		}
	}
}

// open lets connections through again.
func (c *cutter) open() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = false
}

func (c *cutter) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
}

// TestLostReply: the reply to the first row is lost. If the database has the row, the feed goes on
// with the row. If the database has made IDs and crashed meanwhile, the feed takes another lease,
// and does not send the interval again.
func TestLostReply(t *testing.T) {
	s := server(t, pgtest.Config{})
	for _, crashes := range []bool{false, true} {
		addr := database(t, s, sqlgen.Up)
		conn := open(t, addr)
		do(t, conn, fixedClock)
		do(t, conn, fmt.Sprintf("SELECT setval('public.test_clock', %d)", time.Now().UnixMilli())) // else the lease refuses the clock
		c := newCutter(t, strings.Split(strings.Split(addr, "@")[1], "/")[0], "insert into firn.nanoflake_grant")
		isCut := func(*fed) bool {
			select {
			case <-c.cut:
				return true
			default:
				return false
			}
		}
		f := feedUntil(t, isCut, "--database", strings.Replace(addr, c.to, c.listener.Addr().String(), 1), "--state", t.TempDir())
		var ids []int64
		// The database's clock stands, and the feed's clock goes on between its looks at the database's:
		// an interval begins ahead of the standing clock, by as much as the machine is slow.
		mint := func(conn *pgx.Conn) {
			t.Helper()
			do(t, conn, "SET statement_timeout = '1s'")
			wait.Until(t, "the database makes IDs", func() (ok bool) {
				more, err := some(t.Context(), conn, nil, "SELECT * FROM firn.next_nanoflakes(100)")
				switch state(err) {
				case "":
					ids = append(ids, more...)
				case "57014", "NF002": // the call waits for the clock
					pass(t, conn, 100)
				}
				return err == nil
			})
		}
		mint(conn)
		if crashes {
			crash(t, s, addr)
		}
		c.open()
		f.says(t, "is leased", 1)
		mint(open(t, addr))
		wantDistinct(t, ids)
		first, last := nanoflake.ID(ids[0]), nanoflake.ID(ids[len(ids)-1])
		if same := first.GeneratorID() == last.GeneratorID(); same == crashes {
			t.Errorf("crashes: %v: workers %d and %d", crashes, first.GeneratorID(), last.GeneratorID())
		}
		if gone := strings.Contains(f.log.String(), errGone); gone != crashes {
			t.Errorf("crashes: %v: %s", crashes, f.log.String())
		}
		f.Kill()
	}
}
