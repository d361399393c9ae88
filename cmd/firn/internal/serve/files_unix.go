//go:build unix

package serve

import (
	"cmp"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/firn-id/firn/server"
)

// spareFiles is how many files a server needs beside limits.connections: for stores, logs and sockets, and 64 for connections
// beyond the limit.
const spareFiles = 64 + 64

// fitFiles lowers the limit of connections, with a warning, if the process may open fewer files than the server needs.
// The Go runtime has raised the limit of files to the highest that the process may have.
func fitFiles(c *server.Config) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		fit(c, uint64(limit.Cur))
	}
}

// fit lowers the limit of connections to a number of files. Idle clients would otherwise take the files that stores need,
// and the IDs would end for all clients.
func fit(c *server.Config, files uint64) {
	wanted := cmp.Or(c.Limits.Connections, server.DefaultConnections)
	if files >= uint64(wanted)+spareFiles {
		return
	}
	c.Limits.Connections = max(int(files)-spareFiles, 1)
	c.Log.Warn("fewer files than connections, so the server takes fewer connections: raise the limit of files (ulimit -n, LimitNOFILE=), or lower limits.connections",
		"files", files, "connections", c.Limits.Connections, "wanted", wanted)
}

// mayMake returns an error if the user may not make files in a directory.
func mayMake(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
