//go:build unix

package serve

import (
	"log/slog"
	"syscall"
)

// spareFiles is how many files a server needs beside its connections: for stores, logs and sockets.
const spareFiles = 64

// warnOfFiles warns if the process may open fewer files than the server may have connections. The Go runtime has raised
// the limit to the highest that the process may have.
func warnOfFiles(log *slog.Logger, connections int) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return
	}
	if most := uint64(limit.Cur); most < uint64(connections)+spareFiles {
		log.Warn("fewer files than connections: raise the limit of files (ulimit -n, LimitNOFILE=), or lower limits.connections",
			"files", most, "connections", connections)
	}
}
