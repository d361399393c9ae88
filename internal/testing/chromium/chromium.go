// Package chromium finds Chromium for tests of pages and drawings.
package chromium

import (
	"cmp"
	"os"
	"testing"

	"github.com/firn-id/firn/internal/testing/services"
)

// Find returns the program, and the variables that keep the files of Chromium in a folder of the test. A test without
// Chromium is skipped, or fails as [services.Missing] says if the full check runs. Other checks need no Chromium.
func Find(t testing.TB) (program string, variables []string) {
	t.Helper()
	program = cmp.Or(os.Getenv("FIRN_CHROMIUM"), "/usr/bin/chromium")
	if _, err := os.Stat(program); err != nil {
		const missing = "no Chromium at /usr/bin/chromium or $FIRN_CHROMIUM: %v"
		if services.InFull() {
			services.Missing(t, missing, err)
		}
		t.Skipf(missing, err)
	}
	// Chromium writes to the home, also with a profile elsewhere, and may do so while it ends.
	home, err := os.MkdirTemp("", "firn-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	return program, []string{"HOME=" + home, "XDG_CONFIG_HOME=", "XDG_CACHE_HOME="}
}
