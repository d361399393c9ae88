package serve

import (
	"fmt"
	"testing"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/filelease"
)

// TestLine: the command in a refusal has the flags that were given, ready to type.
func TestLine(t *testing.T) {
	var f serveFlags
	cmd := &cobra.Command{}
	f.flags = cmd.Flags()
	f.flags.Var(&f.listen, "listen", "")
	f.flags.Var(&f.tokens, "tokens", "")
	f.flags.BoolVar(&f.insecure, "insecure", false, "")
	if err := f.flags.Parse([]string{"--tokens", "my tokens", "--listen", "[::]:1", "--insecure", "--listen=0.0.0.0:2"}); err != nil {
		t.Fatal(err)
	}
	const want = "firn serve --insecure --listen '[::]:1' --listen 0.0.0.0:2 --tokens 'my tokens'"
	if got := f.line(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	err := fmt.Errorf("x: %w: y: use a store that machines share, or give each generator a worker of its own by hand, or name a directory; for example: z", filelease.ErrNoDefault)
	if got, want := f.reword(&stores.State{}, err).Error(), "x: no default directory is safe here: y: name a store that machines share (--store ADDRESS), or name a directory: "+want+" --state /var/lib/firn"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestReword: advice of other commands is advice for the file of --config.
func TestReword(t *testing.T) {
	var f serveFlags
	err := &lease.MismatchError{Pool: "p", Field: "format", Have: "sno", Want: "nanoflake"}
	const want = `pool p: it is for IDs of format sno, not nanoflake: name the pool of these IDs with pool = "NAME" in the file of --config; only if these IDs are meant to be of pool p, use its settings: firn pool show p`
	if got := f.reword(&stores.State{}, err).Error(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
