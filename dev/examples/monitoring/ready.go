package monitoring

import (
	"log/slog"
	"net/http"

	"github.com/firn-id/firn/lease"
)

// Ready answers the readiness probe: 200 while the generator of each lease can mint, and 503 otherwise,
// with the reason in the log. Do not use Ready as a liveness probe: a restart does not bring a store back.
func Ready(leases ...*lease.Lease) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, held := range leases {
			if held.Left() <= 0 {
				slog.Warn("not ready", "err", held.Err()) // for the log only: it can name the store's host and user
				w.Header().Set("Retry-After", "1")
				http.Error(w, "no IDs right now", http.StatusServiceUnavailable)
				return
			}
		}
	})
}
