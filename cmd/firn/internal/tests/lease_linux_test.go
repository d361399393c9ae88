package tests

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
)

// TestBadDisk: on a disk that is full or read-only there is an error, no ID, and no change.
func TestBadDisk(t *testing.T) {
	t.Parallel()
	const script = `
		set -e
		mount -t tmpfs -o size=256k none "$1"
		state="$1/state"
		firn new nanoflake --state "$state" >/dev/null 2>&1
		echo "== $2"
		if [ "$2" = full ]; then
			cat /dev/zero >"$1/zeros" 2>/dev/null || :
		else
			mount -o remount,ro "$1"
		fi
		for command in "new nanoflake" "new nanoflake --worker 9" "new sno" "new ulidflake --fenced" "pool create sno" "pool doctor"; do
			before=$(find "$state" -type f -exec cksum {} + | sort)
			if firn $command --state "$state"; then echo "no error: firn $command"; exit 1; fi
			[ "$before" = "$(find "$state" -type f -exec cksum {} + | sort)" ] || echo "changed: firn $command"
		done
	`
	for disk, want := range map[string]string{"full": "no space left on device", "read-only": "read-only file system"} {
		t.Run(disk, func(t *testing.T) {
			t.Parallel()
			if err := run(t, exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", t.TempDir())); err != nil {
				t.Skipf("no disk can be mounted here: %v", err)
			}
			cmd := exec.Command("unshare", "-rm", "sh", "-c", script, "sh", t.TempDir(), disk)
			cmd.Env = os.Environ()
			all, err := output(t, cmd)
			if err != nil {
				t.Fatalf("%v\n%s", err, all)
			}
			for _, line := range strings.Split(strings.TrimSpace(all), "\n")[1:] {
				if !strings.Contains(line, want) && !strings.HasPrefix(line, "ok ") && !strings.HasPrefix(line, "warning ") && !strings.HasPrefix(line, "  ") {
					t.Errorf("%s", line)
				}
			}
			if !strings.Contains(all, "problem  store: ") {
				t.Errorf("doctor finds no problem:\n%s", all)
			}
		})
	}
}

// TestNotGivenBack: a run that cannot return its worker succeeds, and warns until when the worker is taken.
func TestNotGivenBack(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	// Five batches, with 14 bytes for each ID, fill the pipe and the buffer. The run then waits in its last
	// write.
	cmd := firnCommand(t, "new", "nanoflake", "-n", strconv.Itoa(5*formats.MaxBatch), "--state", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	check(t, err)
	start(t, cmd)
	first := make([]byte, 14)
	testkit.OK(t, testkit.Err(io.ReadFull(out, first)))
	// The first interval of a lease is short, and may end on a busy machine.
	wait.Until(t, "the worker is held for most of a window", func() bool {
		var worker struct{ Until time.Time }
		_, line, _ := strings.Cut(showPoolOf(t, dir), "\n") // the first is of the pool
		return json.Unmarshal([]byte(line), &worker) == nil && time.Until(worker.Until) > 5*time.Second
	})
	check(t, os.Rename(dir, dir+"-gone"))
	rest, err := io.ReadAll(out)
	check(t, err)
	err = cmd.Wait()
	if ids := bytes.Count(rest, []byte("\n")) + 1; err != nil || ids != 5*formats.MaxBatch {
		t.Errorf("%d IDs, %v", ids, err)
	}
	if all := withoutNotes(stderr.String()); strings.Count(all, "firn: ") != 1 ||
		!strings.HasPrefix(all, "firn: warning: pool nanoflake: worker ") || !strings.Contains(all, " was not returned, and is not free before 20") {
		t.Errorf("stderr %q", all)
	}
}
