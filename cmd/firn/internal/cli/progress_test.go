package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgress: a command that takes long says every 30 seconds how far it is, and a short one says nothing.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := NewProgress(&Streams{Err: &out})
		for second := range 71 {
			p.Say("%d seconds", second)
			time.Sleep(time.Second)
		}
		if got := out.String(); got != "firn: 30 seconds\nfirn: 60 seconds\n" {
			t.Errorf("%q", got)
		}
	})
}
