package ids

import (
	"bytes"
	"encoding/csv"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// TestColumnKeeps: whatever the columns hold, all columns but the new one stay, and each row has the time of
// its ID.
func TestColumnKeeps(t *testing.T) {
	f, _ := inspect.Lookup("nanoflake")
	random := rand.New(rand.NewPCG(1, 2))
	cells := []string{"", " ", "a", "x,y", `say "no"`, "two\nlines", "\r\n", "é", "'", "=1+1", "\x00", "no!", "07en9rb30swmf", "07EN9RB30SWMF"}
	times := map[string]string{"07en9rb30swmf": "2028-05-14T05:10:43.27Z", "07EN9RB30SWMF": "2028-05-14T05:10:43.27Z"}
	for round := range 300 {
		width := 1 + random.IntN(4)
		at := random.IntN(width)
		header := slices.Repeat([]string{"other"}, width)
		header[at] = "id"
		rows := [][]string{header}
		for range random.IntN(20) {
			row := make([]string, width+random.IntN(3))
			for n := range row {
				row[n] = cells[random.IntN(len(cells))]
			}
			if len(row) == 1 && row[0] == "" {
				continue // an empty line is no row
			}
			rows = append(rows, row)
		}
		var in, out bytes.Buffer
		w := csv.NewWriter(&in)
		w.UseCRLF = round%2 == 0
		testkit.OK(t, w.WriteAll(rows))
		i := newInspector(t, &out, f, inspect.Settings{}, time.Now())
		var errs bytes.Buffer
		i.streams.Err, i.streams.In = &errs, strings.NewReader("\ufeff"[:3*(round%3/2)]+in.String())
		err := i.inspectColumn("id")
		testkit.OK(t, i.streams.Out.Flush())
		want := testkit.Must(parse(in.Bytes()))
		got := testkit.Must(parse(out.Bytes()))
		bad := 0
		for n, row := range got {
			if len(row) <= at+1 || n > 0 && row[at+1] != times[strings.TrimSpace(row[at])] || n == 0 && row[at+1] != "id_time" {
				t.Fatalf("row %d is %q", n, row)
			}
			if n > 0 && row[at+1] == "" && strings.TrimSpace(row[at]) != "" {
				bad++
			}
			got[n] = slices.Delete(row, at+1, at+2)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is %q", want, got)
		}
		if (err != nil) != (bad > 0) || strings.Count(errs.String(), "firn: line ") != bad {
			t.Fatalf("%d bad rows: %v\n%s", bad, err, &errs)
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

func parse(text []byte) ([][]string, error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = -1
	return r.ReadAll()
}
