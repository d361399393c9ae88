package pgtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/firn-id/firn/internal/freeze"
	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/wait"
)

// Config is the configuration of a server. The zero Config has the defaults of PostgreSQL, and
// fsync.
type Config struct {
	Settings map[string]string // of postgresql.conf
	HBA      []string          // lines of pg_hba.conf, before the lines that trust everybody on loopback
}

// A Server is a server of PostgreSQL. Methods must not be called at the same time.
type Server struct {
	dir     string
	port    int
	owner   owner
	process *group
}

// Start makes and starts a server. The server has a database postgres and a user postgres, which
// needs no password. The error is ErrMissing if PostgreSQL is not installed.
func Start(ctx context.Context, c Config) (*Server, error) {
	return again(ctx, c, func(s *Server, data string) error {
		initdb, err := program("initdb")
		if err != nil {
			return err
		}
		return s.owner.run(initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
	})
}

// Standby makes and starts a standby of the server. The name is for synchronous_standby_names.
func (s *Server) Standby(ctx context.Context, name string, c Config) (*Server, error) {
	c.Settings = maps.Clone(c.Settings)
	if c.Settings == nil {
		c.Settings = make(map[string]string)
	}
	c.Settings["primary_conninfo"] = fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=%s", s.port, name)
	return again(ctx, c, func(standby *Server, data string) error {
		backup, err := program("pg_basebackup")
		if err != nil {
			return err
		}
		err = standby.owner.run(backup, "-D", data, "-h", "127.0.0.1", "-p", fmt.Sprint(s.port), "-U", "postgres", "-c", "fast", "-X", "stream", "--no-sync")
		if err != nil {
			return err
		}
		return standby.write("standby.signal", "")
	})
}

// again starts a server, and starts another one if another process has taken the port.
func again(ctx context.Context, c Config, fill func(s *Server, data string) error) (*Server, error) {
	return process.Again(func() (*Server, error) { return start(ctx, c, fill) })
}

func start(ctx context.Context, c Config, fill func(s *Server, data string) error) (*Server, error) {
	s := new(Server)
	var err error
	if _, err = program("postgres"); err != nil {
		return nil, err
	}
	if s.owner, err = theOwner(); err != nil {
		return nil, err
	}
	if s.dir, err = s.owner.mkdir(); err != nil {
		return nil, err
	}
	if s.port, err = loopback.Port(); err == nil {
		err = fill(s, s.data())
	}
	if err == nil {
		err = s.configure(c)
	}
	if err == nil {
		err = s.Start(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// write writes a file in the directory of the server.
func (s *Server) write(name, content string) error {
	path := filepath.Join(s.data(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return err
	}
	return os.Chown(path, s.owner.uid, s.owner.gid)
}

func (s *Server) configure(c Config) error {
	settings := map[string]string{
		"port": fmt.Sprint(s.port), "listen_addresses": "127.0.0.1", "unix_socket_directories": s.dir, "max_connections": "50",
		"shared_buffers": "16MB", "logging_collector": "off", "log_min_messages": "warning",
	}
	maps.Copy(settings, c.Settings)
	var conf strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&conf, "%s = '%s'\n", name, strings.ReplaceAll(settings[name], "'", "''"))
	}
	hba := append(slices.Clone(c.HBA), "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust", "local all all trust")
	return errors.Join(s.write("postgresql.conf", conf.String()), s.write("pg_hba.conf", strings.Join(hba, "\n")+"\n"))
}

// Set changes a setting for good, as ALTER SYSTEM does. A setting that PostgreSQL reads at a start
// only needs a Restart.
func (s *Server) Set(ctx context.Context, name, value string) error {
	return s.Exec(ctx, fmt.Sprintf("ALTER SYSTEM SET %s = '%s'", name, value), "SELECT pg_reload_conf()")
}

// Exec executes statements as the user postgres in the database postgres, each by itself. The program
// psql does the work, so the package needs no driver.
func (s *Server) Exec(ctx context.Context, statements ...string) error {
	psql, err := program("psql")
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, psql, "-X", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", s.Address())
	for _, statement := range statements {
		c.Args = append(c.Args, "-c", statement)
	}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// Port returns the port of the server on 127.0.0.1.
func (s *Server) Port() int { return s.port }

// Address returns the address of the server for package pglease and for pgx.
func (s *Server) Address() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

// Log returns the log of the server since its start.
func (s *Server) Log() string { return s.process.log.String() }

// Start starts the server again after Crash or Kill. Start waits until the server listens and, if
// the server takes connections, until recovery has ended.
func (s *Server) Start(ctx context.Context) error {
	path, err := program("postgres")
	if err != nil {
		return err
	}
	if s.process, err = s.owner.start(path, "-D", s.data()); err != nil {
		return err
	}
	if err := s.process.listening(s.port); err != nil {
		return err
	}
	recovers := func() bool {
		err = s.Exec(ctx)
		return err != nil && strings.Contains(err.Error(), "FATAL:  the database system is ") && !strings.Contains(err.Error(), "not accepting")
	}
	if !wait.For(func() bool { return ctx.Err() != nil || !recovers() }) || ctx.Err() != nil {
		return fmt.Errorf("the server does not come up: %w", cmp.Or(ctx.Err(), err))
	}
	return nil
}

// Crash ends the server at once, as pg_ctl -m immediate does. Unlike a power failure, Crash loses
// nothing that the system still has to write.
func (s *Server) Crash() {
	syscall.Kill(s.process.Pid(), syscall.SIGQUIT)
	s.Continue()
	s.process.end()
}

// Kill ends all processes of the server by SIGKILL. Kill stops the processes first: a process that
// starts while its parent ends would have no parent, and stay.
func (s *Server) Kill() {
	s.process.freeze()
	s.process.signal(syscall.SIGKILL)
	s.process.end()
}

// Restart calls Crash and Start.
func (s *Server) Restart(ctx context.Context) error {
	s.Crash()
	return s.Start(ctx)
}

// Stop stops all processes of the server until Continue. Clients can still connect, and get no
// answer.
func (s *Server) Stop()     { s.process.freeze() }
func (s *Server) Continue() { s.process.signal(syscall.SIGCONT) }

// Suspend stops the processes of the server whose title has a text, such as "walwriter".
func (s *Server) Suspend(text string) (stopped int) {
	for _, pid := range children(s.process.Pid()) {
		title, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(title), text) {
			if freeze.Process(pid) == nil {
				stopped++
			}
		}
	}
	return stopped
}

// Promote makes a standby a primary.
func (s *Server) Promote(ctx context.Context) error {
	return s.Exec(ctx, "SELECT pg_promote()")
}

// Close ends the server, and removes its directory.
func (s *Server) Close() error {
	if s.process != nil && s.process.Alive() {
		s.Crash()
	}
	return os.RemoveAll(s.dir)
}
