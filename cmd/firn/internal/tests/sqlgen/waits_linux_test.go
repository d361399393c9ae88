package sqlgen_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/sqlgen"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/wait"
)

// TestWaits: a feed that starts while the database or the store is away waits, and says so. A feed that
// stands by does too.
func TestWaits(t *testing.T) {
	addr := database(t, sharedServer(t), sqlgen.Up)
	c := newCutter(t, strings.Split(strings.Split(addr, "@")[1], "/")[0], "firn waits for no such text")
	away := func(is bool) {
		c.mu.Lock()
		c.shut = is
		c.mu.Unlock()
		if is {
			c.end()
		}
	}
	away(true)
	behind := strings.Replace(addr, c.to, c.listener.Addr().String(), 1)
	pools := t.TempDir()
	f := startFeed(t, "--database", behind, "--state", pools, "--window", "1m")
	f.says(t, "cannot be reached", 1)
	away(false)
	f.says(t, "is leased", 1)

	second := startFeed(t, "--database", behind, "--state", pools, "--window", "1m")
	second.says(t, "standing by", 1)
	away(true)
	second.says(t, "firn: database", 1)
	f.Kill()
	exec1(t, addr, "UPDATE firn.nanoflake_grant SET due_tick = 0, written = pg_current_xact_id()::xid")
	away(false)
	second.says(t, "is leased", 1)

	third := startFeed(t, "--database", addr, "--store", fmt.Sprintf("redis://%s/0", storetest.Gone(t)))
	third.says(t, "store unavailable", 1)
	if !f.Alive() && !second.Alive() || !third.Alive() {
		t.Error("a feed has ended")
	}
}

// TestWrongSettings: settings that nothing but an operator changes end a feed.
func TestWrongSettings(t *testing.T) {
	addr := database(t, sharedServer(t), "")
	full := database(t, sharedServer(t), sqlgen.Up)
	conn := open(t, full)
	_, poor := as(t, conn, full, "poor")
	grant(t, conn, 7, 1, 2)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no generator": {[]string{"--database", addr}, "firn sql generator"},
		"no database":  {[]string{"--database", strings.Replace(addr, nameOf(addr), "nowhere", 1)}, "3D000"},
		"no role":      {[]string{"--database", withRole(addr, "nobody")}, "28000"},
		"no right":     {[]string{"--database", poor}, "42501"},
		"epoch":        {[]string{"--database", full, "--epoch", "2020-01-01"}, "another epoch"},
		"no pool":      {[]string{"--database", full, "--pool", "orders"}, "firn pool create"},
	} {
		args := append([]string{"sql", "feed", "--state", t.TempDir()}, c.args...)
		done := make(chan []byte, 1)
		cmd := exec.Command("firn", args...)
		go func() {
			out, _ := cmd.CombinedOutput()
			done <- out
		}()
		if out, _ := wait.Receive(t, name, done); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), c.says) {
			t.Errorf("%s: %v: %s, without %q", name, cmd.ProcessState, out, c.says)
		}
	}
}
