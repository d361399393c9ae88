package files

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/spill"
)

// A size is the value of a flag: bytes.
type size int64

const defaultMemory size = 128 << 20

// units are the letters of sizes, from 1024 bytes.
const units = "KMGT"

// addTo adds --memory to cmd.
func (m *size) addTo(cmd *cobra.Command) {
	cmd.Flags().Var(m, "memory", "memory to use, such as 64M or 2G")
	cli.Complete(cmd, "memory", "64M", "128M", "1G")
}

func (m *size) Type() string { return "SIZE" }

func (m *size) String() string {
	n, unit := int64(*m), -1
	for unit < len(units)-1 && n > 0 && n%1024 == 0 {
		n /= 1024
		unit++
	}
	if unit < 0 {
		return strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10) + units[unit:unit+1]
}

// Set accepts digits, and one of the units.
func (m *size) Set(s string) error {
	digits, shift := strings.ToUpper(s), 0
	digits = strings.TrimSuffix(strings.TrimSuffix(digits, "B"), "I")
	for i := range len(units) {
		if rest, ok := strings.CutSuffix(digits, units[i:i+1]); ok {
			digits, shift = rest, 10*(i+1)
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	switch {
	case err != nil || n > 1<<62>>shift:
		return errors.New("is not a size, such as 64M or 2G")
	case n<<shift > math.MaxInt/2:
		return errors.New("is more than this machine can address")
	case n<<shift < spill.LeastMemory:
		return errors.New("is less than 16K")
	}
	*m = size(n << shift)
	return nil
}
