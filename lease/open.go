package lease

import (
	"context"
	"fmt"
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

// OpenStore opens the store of an address, such as postgres://orders@db/orders or
// file:///var/lib/firn. The command firn takes the same addresses. The package of a store registers
// a scheme when a program imports the package:
//
//	import _ "github.com/firn-id/firn/lease/pglease"
//
// The error is [driver.ErrAddress] if no imported package has the scheme, and names the import. All other errors
// come from the package's Open.
func OpenStore(ctx context.Context, address string) (driver.Store, error) {
	// Package lease/address would read the scheme too, and bring TLS into programs with stores of
	// files.
	scheme, _, ok := strings.Cut(address, "://")
	scheme = strings.ToLower(scheme)
	if !ok || scheme == "" || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
		return nil, fmt.Errorf("%w: want scheme://…, as in file:///var/lib/firn", driver.ErrAddress)
	}
	if open, ok := driver.Registered(scheme); ok {
		return open(ctx, address)
	}
	if path, ok := packages[scheme]; ok {
		return nil, fmt.Errorf("%w: this program does not have the stores of %s://: import _ %q", driver.ErrAddress, scheme, path)
	}
	return nil, fmt.Errorf("%w: no store has addresses of the kind %s://; this program has %s", driver.ErrAddress, scheme, registered())
}

// registered lists the known schemes.
func registered() string {
	all := driver.Schemes()
	if len(all) == 0 {
		return "no store: import the package of one"
	}
	return strings.Join(all, "://, ") + "://"
}

// packages has the packages of Firn's own stores, for the error of an unregistered scheme.
var packages = map[string]string{
	"consul":     "github.com/firn-id/firn/lease/consullease",
	"etcd":       "github.com/firn-id/firn/lease/etcdlease",
	"file":       "github.com/firn-id/firn/lease/filelease",
	"kubernetes": "github.com/firn-id/firn/lease/kubelease",
	"nats":       "github.com/firn-id/firn/lease/natslease",
	"postgres":   "github.com/firn-id/firn/lease/pglease",
	"redis":      "github.com/firn-id/firn/lease/redislease",
	"rediss":     "github.com/firn-id/firn/lease/redislease",
}
