package resp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firn-id/firn/server/internal/supply"
	"github.com/firn-id/firn/server/internal/supply/supplytest"
)

// newSet returns a generator for each format by its name. The generator nanoflake serves the keys order:*, too.
func newSet(t testing.TB) *supply.Set {
	all := supplytest.Formats(1)
	all[0].Keys = []string{"order:*"}
	return supplytest.New(t, supply.Config{Generators: all})
}

// frameOf returns a command as clients send it.
func frameOf(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}
