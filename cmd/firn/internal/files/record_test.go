package files

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/intake"
	"github.com/firn-id/firn/cmd/firn/internal/spill"
)

// TestPacker: records give back the IDs and their forms, and sort as the IDs do.
func TestPacker(t *testing.T) {
	for size := 8; size <= 24; size++ {
		for _, tagged := range []bool{false, true} {
			switch n := size + map[bool]int{true: 1}[tagged]; {
			case n <= 16:
				testPacker[[2]uint64](t, size, n, tagged)
			default:
				testPacker[[4]uint64](t, size, n, tagged)
			}
		}
	}
}

func testPacker[R spill.Record](t *testing.T, size, n int, tagged bool) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(size), 1))
	p := packer[R]{size: size, tagged: tagged}
	sorter := spill.New[R](spill.Config{Memory: spill.LeastMemory, Size: n, Dir: t.TempDir()})
	defer sorter.Close()
	written := make(map[string]intake.Written)
	for range 3000 {
		id := make([]byte, size)
		for i := range id {
			id[i] = byte(random.Uint32())
		}
		as := intake.Written(random.IntN(4))
		written[string(id)] = as
		if err := sorter.Add(p.pack(id, as)); err != nil {
			t.Fatal(err)
		}
	}
	var last []byte
	if err := sorter.Each(t.Context(), func(batch []R) error {
		for i := range batch {
			id, as := p.unpack(nil, &batch[i], intake.AsHex)
			want, ok := written[string(id)]
			if !ok || tagged && as != want || !tagged && as != intake.AsHex || bytes.Compare(id, last) <= 0 {
				t.Fatalf("%d bytes: %x, %d; want %d, after %x", size, id, as, want, last)
			}
			last = id
			delete(written, string(id))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(written) > 0 {
		t.Errorf("%d IDs of %d bytes are missing", len(written), size)
	}
}
