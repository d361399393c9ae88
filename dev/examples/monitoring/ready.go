package monitoring

import (
	"fmt"
	"net/http"

	"github.com/firn-id/firn/lease"
)

// Ready answers the readiness probe: 200 while the generator of each lease can mint, and 503 with the
// reason otherwise. Do not use Ready as a liveness probe: a restart does not bring a store back.
func Ready(leases ...*lease.Lease) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, held := range leases {
			if held.Left() <= 0 {
				http.Error(w, fmt.Sprintf("no IDs: %v", held.Err()), http.StatusServiceUnavailable)
				return
			}
		}
	})
}
