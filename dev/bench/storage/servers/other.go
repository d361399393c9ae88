//go:build !linux

package servers

import (
	"context"
	"errors"

	"github.com/firn-id/firn/dev/bench/storage/keys"
)

// The servers are processes that end with the program even if the program is killed, and only Linux
// promises that.
var starts = map[string]func(context.Context, Options) (Server, error){
	PostgreSQL: unsupported, keys.MariaDB: unsupported,
}

func unsupported(context.Context, Options) (Server, error) { return nil, errors.ErrUnsupported }
