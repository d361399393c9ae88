package command

import (
	"slices"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/stores"
)

// TestNetwork: --network finds the servers of an address, with their usual ports, and returns the address
// through other servers.
func TestNetwork(t *testing.T) {
	for addr, want := range map[string]struct {
		servers []string
		through string
	}{
		"etcd://user:pw@a:1,b/ids":                 {[]string{"a:1", "b:2379"}, "etcd://user:pw@x:1,x:2/ids"},
		"postgres://[::1]/db":                      {[]string{"[::1]:5432"}, "postgres://x:1,x:2/db"},
		"redis://a?sentinel=main":                  {[]string{"a:26379"}, "redis://x:1,x:2?sentinel=main"},
		"kubernetes://name/ids?server=https://a":   {[]string{"a:443"}, "kubernetes://name/ids?server=https%3A%2F%2Fx%3A1"},
		"kubernetes://name/ids?server=http://a:10": {[]string{"a:10"}, "kubernetes://name/ids?server=http%3A%2F%2Fx%3A1"},
	} {
		f := tortureFlags{store: stores.Address(addr), network: true}
		if err := f.checkStore(); err != nil {
			t.Errorf("%s: %v", addr, err)
			continue
		}
		if through := f.Via([]string{"x:1", "x:2"}); !slices.Equal(f.Servers, want.servers) || through != want.through {
			t.Errorf("%s: servers %q, through %s, want %+v", addr, f.Servers, through, want)
		}
	}
}
