//go:build !unix

package serve

import "log/slog"

func warnOfFiles(*slog.Logger, int) {}
