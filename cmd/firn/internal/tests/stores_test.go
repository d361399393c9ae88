package tests

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
)

// A sharedStore has files, but the command line does not know that. The address is shared:///directory, and
// the settings choose the faults of the store.
type sharedStore struct {
	driver.Store
	address  string
	ahead    time.Duration
	loses    string
	readOnly bool
	blind    bool
	prepared string
}

func init() {
	stores.Kinds = append(stores.Kinds, stores.Kind{Scheme: "shared", Form: "shared:///somewhere"})
	driver.Register("shared", openShared)
}

func openShared(_ context.Context, addr string) (*sharedStore, error) {
	a, err := address.Parse(addr)
	if err != nil {
		return nil, err
	}
	if len(a.Hosts) > 0 || len(a.Path) < 5 {
		return nil, fmt.Errorf("%w: no directory", driver.ErrAddress)
	}
	s := &sharedStore{address: a.String(), loses: a.Text("loses", ""), readOnly: a.Bool("read-only", false), blind: a.Bool("blind", false)}
	s.prepared = filepath.Join("/"+a.Path, ".prepared")
	if a.Bool("behind", false) {
		s.ahead = -a.Duration("ahead", time.Hour)
	} else if s.ahead = a.Duration("ahead", time.Nanosecond); s.ahead == time.Nanosecond {
		s.ahead = 0
	}
	a.Secret("password")
	if err := a.Err(); err != nil {
		return nil, &driver.Error{Store: a.String(), Op: "open", Err: fmt.Errorf("%w: %w", driver.ErrUnavailable, err)}
	}
	if s.Store, err = filelease.Open("/" + a.Path); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *sharedStore) String() string { return s.address }

func (s *sharedStore) fail(err error) error {
	var e *driver.Error
	if errors.As(err, &e) {
		again := *e
		again.Store = s.address
		return &again
	}
	return err
}

func (s *sharedStore) Get(ctx context.Context, key string) (driver.Entry, error) {
	e, err := s.Store.Get(ctx, key)
	return e, s.fail(err)
}

func (s *sharedStore) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	list, err := s.Store.List(ctx, prefix)
	err = s.fail(err)
	for i := range list {
		if list[i].Err != nil {
			list[i].Err = s.fail(list[i].Err)
			err = list[i].Err
		}
	}
	return list, err
}

func (s *sharedStore) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if s.readOnly {
		return driver.None, &driver.Error{Store: s.address, Op: "put", Key: key, Err: fmt.Errorf("%w: it is a replica", driver.ErrUnavailable), Remedy: driver.RemedySettings}
	}
	if s.blind {
		return "1", nil
	}
	if _, err := os.Stat(s.prepared); err != nil {
		return driver.None, &driver.Error{Store: s.address, Op: "put", Key: key, Err: fmt.Errorf("%w: no table", driver.ErrUnavailable), Remedy: driver.RemedyCreate}
	}
	made, err := s.Store.Put(ctx, key, value, rev)
	return made, s.fail(err)
}

func (s *sharedStore) Prepare(context.Context) error { return os.WriteFile(s.prepared, nil, 0o600) }

func (s *sharedStore) Now(context.Context) (time.Time, error) { return time.Now().Add(s.ahead), nil }

func (s *sharedStore) Inspect(context.Context) ([]driver.Finding, error) {
	switch s.loses {
	case "":
		return nil, nil
	case "fails":
		return nil, &driver.Error{Store: s.address, Op: "inspect", Err: driver.ErrUnavailable}
	case "blocks":
		return []driver.Finding{{Blocks: true, Text: "this user may not change it", Advice: "grant it"}}, nil
	}
	return []driver.Finding{{Loses: true, Text: "what it took last can be lost", Advice: "set it right"}, {Text: "it is nearly full"}}, nil
}

// The command never shows the secret of an address, whatever the mistake, and wherever the address stands.
func TestNoSecrets(t *testing.T) {
	const secret = "hunter2"
	addresses := []string{
		"shared://u:" + secret + "@h/p?nope=1", "nope://u:" + secret + "@h", "u:" + secret + "@h", "shared://u:" + secret + "/x@h", "shared://u:" + secret + "?x@h",
		"shared://u:" + secret + "#x@h", "shared://u@h?password=" + secret, "shared://u:12?" + secret + "=3@h", "file://u:" + secret + "@/x", "file:///x?password=" + secret,
		"shared://u:" + secret + " 2@h", "shared://u:\x1b" + secret + "@h", "SHARED://u:" + secret + "%@h",
	}
	env := append(os.Environ(), stores.Variable+"="+t.TempDir())
	for _, addr := range addresses {
		for _, args := range [][]string{
			{"new", "nanoflake", "--store", addr}, {"new", "nanoflake", "--store=" + addr}, {"pool", "list", "--store", addr}, {"pool", "doctor", "--store", addr},
			{"pool", "create", "sno", "--store", addr}, {"pool", "show", "sno", "--store", addr}, {"pool", "recover", "sno", "--yes", "--store", addr},
			{"new", "nanoflake", "-store=" + addr}, {"new", "nanoflake", addr}, {"new", addr}, {addr}, {"pool", addr}, {"pool", "list", addr},
			{"pool", "--store", addr, "list"}, {"--store", addr, "pool", "list"}, {"--store=" + addr}, {"new", "nanoflake", "--json=" + addr},
			{"new", "nanoflake", "--state", "x", "--store", addr}, {"new", "scru160", "--store", addr}, {"pool", "show", addr}, {"help", addr},
			{"new", "nanoflake", "--pool", addr}, {"new", "nanoflake", "-n", addr},
		} {
			if !strings.Contains(addr, "://") && !strings.Contains(strings.Join(args, " "), "-store") {
				continue // nobody can tell that it is an address
			}
			cmd := exec.Command("firn", args...)
			cmd.Env, cmd.Dir = env, t.TempDir()
			stdout, stderr, code := capture(t, cmd)
			if strings.Contains(stdout+stderr, secret) || code != cli.ExitUsage || strings.Count(stderr, "firn: ") != 1 {
				t.Errorf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
			}
			if strings.ContainsAny(stderr, "\x1b") {
				t.Errorf("%q: %q", args, stderr)
			}
		}
		cmd := firnCommand(t, "pool", "list")
		cmd.Env = append(cmd.Env, stores.Variable+"="+addr)
		out, err := output(t, cmd)
		if strings.Contains(out, secret) || exitCode(err) != cli.ExitUsage || !strings.HasPrefix(out, "firn: FIRN_STORE: ") {
			t.Errorf("FIRN_STORE=%s: %v\n%s", addr, err, out)
		}
	}
}
