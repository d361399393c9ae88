//go:build unix

package serve

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server"
)

// TestFit: a process with few files takes fewer connections, and says so.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		files                   uint64
		connections, want, warn int
	}{
		{server.DefaultConnections + spareFiles, 0, 0, 0},
		{server.DefaultConnections + spareFiles - 1, 0, server.DefaultConnections - 1, 1},
		{1024, 0, 1024 - spareFiles, 1},
		{1024, 500, 500, 0},
		{200, 500, 200 - spareFiles, 1},
		{spareFiles, 1, 1, 1},
		{3, 500, 1, 1},
		{1 << 63, 500, 500, 0},
	} {
		var log bytes.Buffer
		config := server.Config{Limits: server.Limits{Connections: c.connections}, Log: slog.New(slog.NewTextHandler(&log, nil))}
		fit(&config, c.files)
		if got, warned := config.Limits.Connections, strings.Count(log.String(), "takes fewer connections"); got != c.want || warned != c.warn {
			t.Errorf("%+v: %d connections; log: %s", c, got, &log)
		}
	}
}

// TestMayMake: a directory that the user may not write to is an error, and so is a missing one.
func TestMayMake(t *testing.T) {
	dir := t.TempDir()
	if err := mayMake(dir); err != nil {
		t.Error(err)
	}
	if err := mayMake(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if os.Getuid() == 0 {
		return // root may write everywhere
	}
	testkit.OK(t, os.Chmod(dir, 0o500))
	if err := mayMake(dir); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	var o opener
	if err := o.wouldMake(filepath.Join(dir, "a", "b")); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), filepath.Join(dir, "a")+": permission denied: no directory can be made there: name the store's directory") {
		t.Error(err)
	}
	if err := o.wouldMake(filepath.Join(t.TempDir(), "a")); err != nil {
		t.Errorf("another directory: %v", err)
	}
}
