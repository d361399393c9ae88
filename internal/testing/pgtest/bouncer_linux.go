package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/process"
)

// A Bouncer is a PgBouncer in front of a server, with pool_mode=transaction: a client has a
// connection of the server during a transaction only.
type Bouncer struct {
	dir     string
	port    int
	process *group
}

// Bounce starts a PgBouncer that shares the given number of connections among its clients. The
// error is ErrMissing if PgBouncer is not installed.
func (s *Server) Bounce(connections int, users ...string) (*Bouncer, error) {
	path, err := program("pgbouncer")
	if err != nil {
		return nil, err
	}
	return process.Again(func() (*Bouncer, error) { return s.bounce(path, connections, users) })
}

func (s *Server) bounce(path string, connections int, users []string) (*Bouncer, error) {
	b, err := new(Bouncer), error(nil)
	if b.dir, err = s.owner.mkdir(); err != nil {
		return nil, err
	}
	if b.port, err = loopback.Port(); err == nil {
		err = b.start(s, path, connections, append(users, "postgres"))
	}
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("pgbouncer: %w", err)
	}
	return b, nil
}

func (b *Bouncer) start(s *Server, path string, connections int, users []string) error {
	known := filepath.Join(b.dir, "users.txt")
	conf := filepath.Join(b.dir, "pgbouncer.ini")
	for file, content := range map[string]string{
		known: `"` + strings.Join(users, "\" \"\"\n\"") + "\" \"\"\n",
		conf: fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"+
			"auth_type = trust\nauth_file = %s\npool_mode = transaction\ndefault_pool_size = %d\nmax_client_conn = 500\nserver_login_retry = 1\n",
			s.port, b.port, known, connections),
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return err
		}
		if err := os.Chown(file, s.owner.uid, s.owner.gid); err != nil {
			return err
		}
	}
	var err error
	if b.process, err = s.owner.start(path, conf); err != nil {
		return err
	}
	return b.process.listening(b.port)
}

// Address returns the address of the server through the PgBouncer.
func (b *Bouncer) Address() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", b.port)
}

// Close ends the PgBouncer.
func (b *Bouncer) Close() error {
	if b.process != nil && b.process.Alive() {
		b.process.signal(syscall.SIGKILL)
		b.process.end()
	}
	return os.RemoveAll(b.dir)
}
