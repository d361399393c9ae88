package ids

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// TestColumnKeeps: whatever the columns hold, the output is the input byte for byte but for the new column, and each
// row has the time of its ID.
func TestColumnKeeps(t *testing.T) {
	f, _ := inspect.Lookup("nanoflake")
	random := rand.New(rand.NewPCG(1, 2))
	const id, time1 = "07en9rb30swmf", "2028-05-14T05:10:43.27Z"
	cells := []string{"", " ", "a", `"x,y"`, `"say ""no"""`, `a"b`, "\"two\nlines\"", "\"\r\n\"", "\"\n\n\"", `"quoted"`, "é", "'", "=1+1", "\x00", "no!", "a\rb",
		id, strings.ToUpper(id), `"` + id + `"`, " " + id + " "}
	times := map[string]string{"": "", " ": "", "\"\r\n\"": "", "\"\n\n\"": ""}
	for _, cell := range cells[len(cells)-4:] {
		times[cell] = time1
	}
	ends := []string{"\n", "\r\n"}
	for range 2000 {
		width := 1 + random.IntN(4)
		at := random.IntN(width)
		header := slices.Repeat([]string{"other"}, width)
		header[at] = []string{"id", `"id"`}[random.IntN(2)]
		mark := "\ufeff"[:3*random.IntN(2)]
		mark += []string{"", "\n", "\r\n\n"}[random.IntN(3)] // empty lines may come before the header
		in, want := mark, mark
		bad := 0
		rows := random.IntN(20)
		for n := range 1 + rows {
			row, text := header, "id_time"
			if n > 0 {
				row = make([]string, 1+random.IntN(width+2))
				for i := range row {
					row[i] = cells[random.IntN(len(cells))]
				}
				if len(row) == 1 && row[0] == "" {
					continue // an empty line is no row
				}
				good := len(row) > at
				if text = ""; good {
					text, good = times[row[at]]
				}
				if !good {
					bad++
				}
			}
			end := ends[random.IntN(2)] + ends[random.IntN(2)][:random.IntN(2)]
			end = strings.TrimSuffix(end, "\r") // an empty line may come behind the row
			if n == rows && random.IntN(2) == 0 {
				end = ""
			}
			with := slices.Clone(row)
			for len(with) <= at {
				with = append(with, "")
			}
			in += strings.Join(row, ",") + end
			want += strings.Join(slices.Insert(with, at+1, text), ",") + end
		}
		var out, errs bytes.Buffer
		i := newInspector(t, &out, f, inspect.Settings{}, time.Now())
		i.streams.Err, i.streams.In = &errs, iotest.OneByteReader(strings.NewReader(in))
		if random.IntN(2) == 0 {
			i.streams.In = strings.NewReader(in)
		}
		err := i.inspectColumn("id")
		testkit.OK(t, i.streams.Out.Flush())
		if out.String() != want {
			t.Fatalf("%q is %q, want %q", in, &out, want)
		}
		if (err != nil) != (bad > 0) || strings.Count(errs.String(), "firn: line ") != bad {
			t.Fatalf("%q: %d bad rows: %v\n%s", in, bad, err, &errs)
		}
	}
}

// A quote without an end does not fill the memory.
func TestLongRow(t *testing.T) {
	f, _ := inspect.Lookup("nanoflake")
	var out, errs bytes.Buffer
	i := newInspector(t, &out, f, inspect.Settings{}, time.Now())
	i.streams.Err = &errs
	i.streams.In = io.MultiReader(strings.NewReader("id,a\n07en9rb30swmf,x\n07en9rb30swmf,\""), io.LimitReader(endless{}, 2*mostRow))
	err := i.inspectColumn("id")
	testkit.OK(t, i.streams.Out.Flush())
	if err == nil || !strings.Contains(err.Error(), "is there a quote without an end?") || out.String() != "id,id_time,a\n07en9rb30swmf,2028-05-14T05:10:43.27Z,x\n" {
		t.Errorf("%v, %.200q", err, out.Bytes())
	}
}

// endless is lines without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "0123456789\n"[i%11]
	}
	return len(p), nil
}
