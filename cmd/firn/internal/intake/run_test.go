package intake

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/inspect"
)

// TestRuns: a Reader that reads runs of lines answers as one that reads each line alone, wherever the other
// lines stand.
func TestRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, f := range formats.All() {
		ids := made(t, f, 500)
		for _, rare := range []int{2, 20, 200} {
			var in strings.Builder
			for _, id := range ids {
				text := written(t, f, inspect.Text, id)
				if random.IntN(rare) == 0 {
					text = []string{"", "no!", text + "\r", " " + text, text[1:], strings.ToLower(text), strings.ToUpper(text), text + "0", written(t, f, inspect.Hex, id)}[random.IntN(9)]
				}
				in.WriteString(text + "\n")
			}
			alone := source(t, f)
			r := alone.Open(strings.NewReader(in.String()))
			r.lines = nil
			want := answers(r)
			for name, r := range map[string]*Reader{
				"whole": alone.Open(strings.NewReader(in.String())), "halves": alone.Open(iotest.HalfReader(strings.NewReader(in.String()))),
				"bytes": alone.Open(iotest.OneByteReader(strings.NewReader(in.String()))),
			} {
				if got := answers(r); !slices.Equal(got, want) {
					t.Errorf("%s, %s: %d answers, want %d", f.Name(), name, len(got), len(want))
				}
			}
		}
	}
}
