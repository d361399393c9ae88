package advice

import (
	"slices"
	"testing"
)

// TestBegins: the check sees the parts of an advice, and no others.
func TestBegins(t *testing.T) {
	for text, want := range map[string]int{
		"order: count: n is 0: want 1 to 10": 1,
		"use INCR":                           1,
		"is empty: leave out the setting, or give a value; see --help":                       3,
		"add --tls-cert FILE, or listen on a loopback address":                               2,
		"unknown format \"nanoflak\": did you mean nanoflake?":                               1,
		"see what else writes there; then rescue the pool":                                   2,
		"stop all processes that use its pools, and rescue the pools":                        2,
		"name: the use of addresses, names and tokens; form-action":                          0,
		"see that the server runs, and that the network lets through it":                     1,
		"etcd://h/p: put pool/a: store unavailable: see the log":                             1,
		"memory: read p/pool: damaged: rescue the pool":                                      1,
		"tls: read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer: see to tls": 1,
		"forbid it to those users, or switch it off":                                         2,
		"find the wrong member and replace it":                                               1,
		"bring all members to one version":                                                   1,
		"raise the quota; then clear the alarm":                                              2,
		"is a learner: promote it":                                                           1,
		"it is too large; put it elsewhere":                                                  1,
		"write /var/lib/my ids/a=: no space left: free some space there, or raise the quota": 2,
		"write tcp 127.0.0.1:1->127.0.0.1:2: write: broken pipe: see that the server runs":   1,
		"rescue the pool; do not repair, move or delete entries":                             1,
		"see the log; do not start the server, or rescue the pool":                           2,
		"": 0,
	} {
		if got := begins(text); len(got) != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestSayers: a part of an advice is of the text that has printed the part, and not of a text around it.
func TestSayers(t *testing.T) {
	said := map[string]string{
		"pool %s: %s: stop the process, or wait": "a", "%v; or set x to off there": "b", "see that x is right": "c", "see that %s is right": "d", "wait": "e",
	}
	for _, c := range []struct {
		text, part string
		by         []string
	}{
		{"pool p: no: stop the process, or wait", "stop", []string{"pool %s: %s: stop the process, or wait"}},
		{"pool p: no: stop the process, or wait", "wait", []string{"pool %s: %s: stop the process, or wait"}},
		{"store: see that x is right; or set x to off there", "see", []string{"see that x is right"}},
		{"store: see that x is right; or set x to off there", "set", []string{"%v; or set x to off there"}},
		{"store: see that y is right", "see", []string{"see that %s is right"}},
		{"store: see the log", "see", nil},
	} {
		if by := sayers(said, c.text, index(c.text, c.part)); !slices.Equal(by, c.by) {
			t.Errorf("%q of %q: %q", c.part, c.text, by)
		}
	}
}

func index(text, part string) int {
	for _, b := range begins(text) {
		if len(text) >= b+len(part) && text[b:b+len(part)] == part {
			return b
		}
	}
	return -1
}
