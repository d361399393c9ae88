package files

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
)

// A report says what a verifier has found.
type report struct {
	*verifier
	w     *bufio.Writer
	took  time.Duration
	bytes int64 // read
}

// A row is a kind of fault, by its key in JSON.
type row struct {
	key string
	of  *faults
}

func (r *report) rows() []row {
	rows := []row{{"duplicates", &r.duplicates}, {"malformed", &r.malformed}, {"out_of_order", &r.disorder}}
	if r.worker() {
		rows = append(rows, row{"regressions", &r.regressions})
	}
	return append(rows, row{"future", &r.future})
}

// rates returns how many IDs were made and read in a second.
func (r *report) rates() (made, read float64) {
	if r.ids == 0 {
		return 0, 0
	}
	span := float64(r.most-r.least+1) * r.from.Shape.Unit.Seconds()
	return float64(r.ids) / span, float64(r.ids) / max(r.took, time.Microsecond).Seconds()
}

// text writes the report for people.
func (r *report) text() error {
	made, read := r.rates()
	t := tabwriter.NewWriter(r.w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "ids\t%d\n", r.ids)
	for _, row := range r.rows() {
		fmt.Fprintf(t, "%s\t%d", row.key, row.of.n)
		if row.of.n > 0 && row.of.most > 0 {
			fmt.Fprint(t, "\t")
			if err := r.listText(t, row.of); err != nil {
				return err
			}
		}
		fmt.Fprint(t, "\n")
	}
	if r.ids > 0 {
		if r.worker() {
			fmt.Fprintf(t, "workers\t%d\n", r.keys.generators)
		}
		fmt.Fprintf(t, "first\t%s\nlast\t%s\n", cli.TimeText(r.at(r.least)), cli.TimeText(r.at(r.most)))
		fmt.Fprintf(t, "made\t%s IDs/s\nread\t%s IDs/s\n", short(made), short(read))
	}
	if err := t.Flush(); err != nil || r.duplicates.n == 0 || r.duplicates.most == 0 {
		return err
	}
	fmt.Fprint(r.w, "\nduplicates, by line:\n")
	return r.eachDuplicate(func(line int64, id []byte) error {
		_, err := fmt.Fprintf(r.w, "%d\t%s\n", line, id)
		return err
	})
}

// listText writes "line 5", or "lines 5, 7 and more".
func (r *report) listText(w io.Writer, f *faults) error {
	text := "line "
	if f.n > 1 {
		text = "lines "
	}
	var line []byte
	err := f.each(func(n int64) error {
		line = strconv.AppendInt(append(line[:0], text...), n, 10)
		text = ", "
		_, err := w.Write(line)
		return err
	})
	if f.n > f.most && err == nil {
		_, err = w.Write([]byte(", …"))
	}
	return err
}

// eachDuplicate calls f with the line and the text of each duplicate that is kept.
func (r *report) eachDuplicate(f func(line int64, id []byte) error) error {
	d := r.from.Format.Descriptor()
	write, id := d.Writer(), make([]byte, d.Size)
	var text []byte
	off := int64(0)
	return r.duplicates.each(func(line int64) (err error) {
		if _, err := r.repeated.ReadAt(id, off); err != nil {
			return err
		}
		off += int64(d.Size)
		if text, err = write(text[:0], id); err != nil {
			return err
		}
		return f(line, text)
	})
}

// short returns a number in three digits or so, "20.1 M".
func short(n float64) string {
	if n > 0 && n < 1 {
		return "<1"
	}
	for _, unit := range []string{"", " k", " M"} {
		if n < 1000 {
			return strconv.FormatFloat(n, 'g', 3, 64) + unit
		}
		n /= 1000
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + " G"
}

// json writes the report as one object, however many lines it has.
func (r *report) json() error {
	made, read := r.rates()
	w := r.w
	fmt.Fprintf(w, `{"format":%q,"ids":%d`, r.from.Format.Name(), r.ids)
	for _, row := range r.rows() {
		fmt.Fprintf(w, `,%q:%d`, row.key, row.of.n)
	}
	for _, row := range r.rows() {
		fmt.Fprintf(w, `,%q:`, singular(row.key)+"_lines")
		if err := r.list(row.of.each); err != nil {
			return err
		}
	}
	fmt.Fprint(w, `,"duplicate_ids":`)
	comma := "["
	if err := r.eachDuplicate(func(_ int64, id []byte) error {
		_, err := fmt.Fprintf(w, "%s%q", comma, id)
		comma = ","
		return err
	}); err != nil {
		return err
	}
	if comma == "[" {
		fmt.Fprint(w, comma)
	}
	fmt.Fprint(w, "]")
	if r.worker() {
		fmt.Fprintf(w, `,"workers":%d`, r.keys.generators)
	}
	if r.ids > 0 {
		fmt.Fprintf(w, `,"first":%q,"last":%q`, cli.TimeText(r.at(r.least)), cli.TimeText(r.at(r.most)))
	}
	numbers, err := json.Marshal(struct {
		Made    float64 `json:"made_per_second"`
		Seconds float64 `json:"seconds"`
		Read    float64 `json:"read_per_second"`
		Bytes   int64   `json:"bytes"`
	}{made, r.took.Seconds(), read, r.bytes})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, ",%s\n", numbers[1:])
	return err
}

// singular returns the word of a key for one fault.
func singular(key string) string {
	if slices.Contains([]string{"duplicates", "regressions"}, key) {
		return key[:len(key)-1]
	}
	return key
}

// list writes numbers as a list of JSON.
func (r *report) list(each func(func(int64) error) error) error {
	r.w.WriteByte('[')
	var number []byte
	err := each(func(n int64) error {
		number = strconv.AppendInt(number, n, 10)
		_, err := r.w.Write(number)
		number = append(number[:0], ',')
		return err
	})
	r.w.WriteByte(']')
	return err
}
