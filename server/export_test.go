package server

import (
	"testing"
	"time"
)

// SetTokenTime changes how long a client may take to send a token, for the servers that a test starts.
func SetTokenTime(t *testing.T, d time.Duration) {
	was := tokenTime
	tokenTime = d
	t.Cleanup(func() { tokenTime = was })
}
