package stores

import (
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// TestHints: each kind of remedy has one to three hints, in one line each. A command among them names the store, or leaves
// a secret out.
func TestHints(t *testing.T) {
	secret := At("postgres://ids:hunter2@db/app")
	for _, st := range []*State{{Dir: "/srv/ids"}, At("postgres://ids@db/app"), secret} {
		for _, kind := range driver.Remedies() {
			for _, r := range []lease.Remedy{{Kind: kind}, {Kind: kind, Pool: "p", Lost: true, Until: time.Now()}} {
				hints := st.hints(r, nil)
				if len(hints) < 1 || len(hints) > 3 {
					t.Errorf("%s: %d hints", kind, len(hints))
				}
				for _, hint := range hints {
					_, command, _ := strings.Cut(hint, "  firn ")
					elsewhere := strings.Contains(command, "--help") || strings.Contains(command, "--store ADDRESS") || strings.Contains(command, "--worker 0")
					named := strings.HasSuffix(command, " --state /srv/ids") || strings.HasSuffix(command, " --store postgres://ids@db/app") || strings.HasSuffix(command, " --store …")
					if strings.Contains(hint, "\n") || strings.Contains(hint, "hunter2") || command != "" && named == elsewhere {
						t.Errorf("%s: %q", kind, hint)
					}
				}
			}
		}
	}
}

// TestHintWindow: a printed recovery of a pool whose record is lost has the window of the command's leases; no other command has.
func TestHintWindow(t *testing.T) {
	st := &State{Dir: "/srv/ids", Window: 10 * time.Minute}
	st.Makes("p", "sno", nil)
	for _, r := range []lease.Remedy{{Kind: driver.RemedyCreate}, {Kind: driver.RemedyCreate, Pool: "p"}, {Kind: driver.RemedyRestored, Pool: "q"}, {Kind: driver.RemedyRecover, Pool: "p", Lost: true}} {
		for _, hint := range st.hints(r, nil) {
			anew := strings.Contains(hint, "firn pool recover") && !strings.Contains(hint, "--all")
			if strings.Contains(hint, " --window 10m0s ") != anew {
				t.Errorf("%+v: %q", r, hint)
			}
		}
	}
}

// TestHintSettings: a server's hints are about its file.
func TestHintSettings(t *testing.T) {
	st := &State{Dir: "/srv/ids"}
	st.Instead.TrustClock, st.Instead.Pool = "trust-clock = true", "pool = \"NAME\""
	for want, err := range map[string]error{
		"Is the clock right?  Trust it:  trust-clock = true":                &lease.SkewError{Pool: "p"},
		"Do these IDs have a pool of their own?  Name it:  pool = \"NAME\"": &lease.MismatchError{Pool: "p"},
	} {
		if got := strings.Join(cli.Hints(st.Hint(err)), "\n"); !strings.Contains(got, want) {
			t.Errorf("%v: %s", err, got)
		}
	}
}
