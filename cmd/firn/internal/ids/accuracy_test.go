package ids

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// madeAt returns n IDs of a format in the binary form, made from a time on, an ID in a tick. IDs are nil for a
// time that the format does not have.
func madeAt(t *testing.T, f inspect.Format, at time.Time, n int) (ids [][]byte) {
	t.Helper()
	r := testkit.Must(f.NewReader(inspect.Settings{}))
	if at.Before(r.Shape().Start()) {
		return nil
	}
	recipe := shape.Recipe{Clock: func() time.Time {
		at = at.Add(time.Millisecond)
		return at
	}}
	if _, ok := r.Shape().LastWorker(); ok {
		recipe.Worker = 1
	}
	g := testkit.Must(f.Descriptor().New(recipe))
	for range n {
		ids = append(ids, testkit.Must(g.TryAppendBinary(nil, 1)))
		at = at.Add(7 * time.Millisecond)
	}
	return ids
}

// forms returns the texts of an ID, by the names of their forms.
func forms(t *testing.T, f inspect.Format, id []byte) map[string]string {
	t.Helper()
	d := f.Descriptor()
	text := string(testkit.Must(d.AppendText(nil, id)))
	digits := hex.EncodeToString(id)
	all := map[string]string{"text": text, "quoted": `"` + text + `",`, "prefixed": "order_item_" + text, "hex": digits, "HEX": strings.ToUpper(digits), "0x": "0x" + digits, "0X": "0X" + strings.ToUpper(digits)}
	if d.Text.AnyCase {
		all["any case"] = strings.ToUpper(text[:len(text)/2]) + strings.ToLower(text[len(text)/2:])
	}
	if d.Integer() {
		v := binary.BigEndian.Uint64(id)
		all["int"], all["short 0x"] = fmt.Sprint(v), fmt.Sprintf("%#x", v)
	}
	if d.AppendUUID != nil {
		u := string(testkit.Must(d.AppendUUID(nil, id)))
		all["uuid"], all["UUID digits"] = u, strings.ToUpper(strings.ReplaceAll(u, "-", ""))
	}
	return all
}

// same reports whether a reading is the ID. The two Ulid-Flakes count as one.
func same(r *reading, f inspect.Format, id []byte) bool {
	const either = "ulidflake"
	return r.reader != nil && bytes.Equal(r.id, id) && (r.reader.Format() == f || strings.HasPrefix(f.Name(), either) && strings.HasPrefix(r.kind(), either))
}

// TestAccuracy: of 1000 IDs of each format in each form, made today, a year, five and ten years ago, each ID is among
// the candidates. Of today's IDs, 99 % are the first candidate.
func TestAccuracy(t *testing.T) {
	for _, now := range []time.Time{
		time.Date(2026, 11, 26, 9, 30, 0, 0, time.UTC), time.Date(2029, 2, 28, 23, 59, 59, 0, time.UTC), time.Date(2033, 7, 1, 0, 0, 0, 0, time.UTC),
	} {
		for _, f := range inspect.Formats() {
			for _, years := range []int{0, 1, 5, 10} {
				all, first := map[string]int{}, map[string]int{}
				for _, id := range madeAt(t, f, now.AddDate(-years, 0, 0), 1000) {
					s := newInspector(t, nil, inspect.Format{}, inspect.Settings{}, now.Add(time.Minute)).scanner
					for form, input := range forms(t, f, id) {
						readings, err := s.read(input)
						if err != nil {
							t.Fatalf("%s as %s: %v", f.Name(), form, err)
						}
						listed := false
						for n := range readings {
							if same(&readings[n], f, id) {
								listed = true
								if n == 0 {
									first[form]++
								}
							}
						}
						if !listed {
							t.Fatalf("%s as %s, of %d years ago: %q is not among %d candidates", f.Name(), form, years, input, len(readings))
						}
						all[form]++
					}
				}
				for form, n := range all {
					if n != 1000 || years == 0 && first[form] < 990 {
						t.Errorf("%v: %s as %s, of %d years ago: %d of 1000 are listed, %d first", now.Year(), f.Name(), form, years, n, first[form])
					}
				}
				if years > 0 {
					t.Logf("%d: %s of %d years ago: first of 1000: %v", now.Year(), f.Name(), years, first)
				}
			}
		}
	}
}
